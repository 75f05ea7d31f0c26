// Command peer is the Zundoko operator on controller-runtime, for `npm run bench` to compare our workers with:
// written as such an operator usually is, with nothing that would slow it down on purpose.
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
)

func main() {
	metricsAddr := flag.String("metrics-bind-address", "0", "address of the metrics server; 0: off")
	probeAddr := flag.String("health-probe-bind-address", "0", "address of /healthz; 0: off")
	flag.Parse()
	logger := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := run(ctrl.SetupSignalHandler(), *metricsAddr, *probeAddr); err != nil {
		logger.Error(err, "peer failed")
		os.Exit(1)
	}
}

func run(ctx context.Context, metricsAddr, probeAddr string) error {
	cfg := ctrl.GetConfigOrDie() // from KUBECONFIG
	cfg.QPS = -1                 // no client-side rate limit: the API server is to be the limit
	cfg.UserAgent = "denrei-bench-peer"
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{ // leader election is off by default
		Scheme:                 newScheme(),
		Metrics:                metricsserver.Options{BindAddress: metricsAddr},
		HealthProbeBindAddress: probeAddr,
	})
	if err != nil {
		return err
	}
	r := &reconciler{Client: mgr.GetClient(), live: mgr.GetAPIReader(), word: wordSource()}
	if err := errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.GetFieldIndexer().IndexField(ctx, &Zundoko{}, ownerIndex, controllerUID),
		// No predicates, as a status write must start the next step too. No Kiyoshis, as no step waits for one.
		ctrl.NewControllerManagedBy(mgr).For(&Hikawa{}).Owns(&Zundoko{}).
			WithOptions(controller.Options{MaxConcurrentReconciles: 10}).Complete(r),
		// Runs when the informers known so far have synced: the Zundokos', because of the index. The Hikawas' is
		// started by the controller, at the same time as this; GetInformer blocks until it too has synced.
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

// wordSource returns what to say as word number n (from 1): a fixed list over and over, or at random.
func wordSource() func(n int) string {
	if list := os.Getenv("DENREI_ZUNDOKO_WORDS"); list != "" {
		words := strings.Split(list, ",")
		return func(n int) string { return words[(n-1)%len(words)] }
	}
	return func(int) string { return []string{"Zun", "Doko"}[rand.IntN(2)] }
}
