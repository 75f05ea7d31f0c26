// Command peer is the Zundoko operator on controller-runtime. `npm run bench` compares our workers with it.
// It is written as such an operator usually is, and nothing slows it down on purpose.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	metricsAddr := flag.String("metrics-bind-address", "0", "address of the metrics server; 0: off")
	probeAddr := flag.String("health-probe-bind-address", "0", "address of /healthz; 0: off")
	oneWrite := flag.Bool("one-write", false, "write at most once per reconcile, as many operators do, and so make more API calls")
	var elect election
	flag.BoolVar(&elect.on, "leader-elect", false, "reconcile only while holding the lease, for several replicas")
	flag.StringVar(&elect.id, "leader-election-id", "denrei-bench-peer", "name of the lease")
	flag.StringVar(&elect.namespace, "leader-election-namespace", "default", "namespace of the lease")
	flag.Parse()
	logger := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := run(ctrl.SetupSignalHandler(), *metricsAddr, *probeAddr, *oneWrite, elect); err != nil {
		logger.Error(err, "peer failed")
		os.Exit(1)
	}
}

// election sets no durations, so controller-runtime's defaults apply: a lease of 15 s, renewed within 10 s, retried
// every 2 s.
type election struct {
	on            bool
	id, namespace string
}

// everywhere runs on all replicas, also on those that do not lead.
type everywhere func(context.Context) error

func (e everywhere) Start(ctx context.Context) error { return e(ctx) }
func (everywhere) NeedLeaderElection() bool          { return false }

func run(ctx context.Context, metricsAddr, probeAddr string, oneWrite bool, elect election) error {
	cfg := ctrl.GetConfigOrDie() // from KUBECONFIG
	cfg.QPS = -1                 // no client-side rate limit, so that only the API server limits it
	cfg.UserAgent = "denrei-bench-peer"
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                  newScheme(),
		Metrics:                 metricsserver.Options{BindAddress: metricsAddr},
		HealthProbeBindAddress:  probeAddr,
		LeaderElection:          elect.on,
		LeaderElectionID:        elect.id,
		LeaderElectionNamespace: elect.namespace,
	})
	if err != nil {
		return err
	}
	own := &children{Client: mgr.GetClient(), live: mgr.GetAPIReader(), word: wordSource(), replica: "controller"}
	var r reconcile.Reconciler = &songs{children: own}
	if oneWrite {
		r = steps{own}
	}
	if err := errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.GetFieldIndexer().IndexField(ctx, &Zundoko{}, ownerIndex, controllerUID),
		// No predicates, because a status write has to start the next step as well. No Kiyoshis, because neither reconciler waits for one.
		ctrl.NewControllerManagedBy(mgr).For(&Hikawa{}).Owns(&Zundoko{}).
			WithOptions(controller.Options{MaxConcurrentReconciles: 10}).Complete(r),
		mgr.Add(everywhere(func(context.Context) error {
			fmt.Println("started")
			return nil
		})),
		// Runs on the leader when the informers known so far have synced: only that of the Zundokos, because of the index. The
		// controller starts the informer of the Hikawas at the same time as this. GetInformer blocks until it has synced.
		mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			_, err := mgr.GetCache().GetInformer(ctx, &Hikawa{})
			if err == nil {
				fmt.Println("ready")
			}
			return err
		})),
	); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// wordSource returns a function for word number n (from 1): it repeats a fixed list, or chooses at random.
func wordSource() func(n int) string {
	if list := os.Getenv("DENREI_ZUNDOKO_WORDS"); list != "" {
		words := strings.Split(list, ",")
		return func(n int) string { return words[(n-1)%len(words)] }
	}
	return func(int) string { return []string{"Zun", "Doko"}[rand.IntN(2)] }
}
