package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownerIndex finds Zundokos by their controller's uid: a name would also match an older Hikawa's words.
const ownerIndex = "controllerUID"

func controllerUID(o client.Object) []string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return []string{string(ref.UID)}
	}
	return nil
}

type reconciler struct {
	client.Client               // reads from the cache
	live          client.Reader // reads from the API server
	word          func(n int) string
	lastWord      sync.Map // client.ObjectKey -> time.Time, only of Hikawas that have an interval
}

// Reconcile takes one step, which is at most one write (the last step: two). The event of that write starts
// the next step, so the cache has always seen the write by then.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var h Hikawa
	if err := r.Get(ctx, req.NamespacedName, &h); err != nil || h.DeletionTimestamp != nil || h.Status.Kiyoshied {
		r.lastWord.Delete(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	wait, err := r.step(ctx, &h)
	if apierrors.IsConflict(err) {
		err = nil // the cache was behind; the newer version causes an event, so a retry is not needed
	}
	return ctrl.Result{RequeueAfter: wait}, err
}

// step returns how long to wait if it is too early for the next word.
func (r *reconciler) step(ctx context.Context, h *Hikawa) (time.Duration, error) {
	said, next, err := r.said(ctx, h)
	if err != nil {
		return 0, err
	}
	switch {
	case h.Spec.NumZundokos > len(said):
		name := fmt.Sprintf("%s-zundoko-%03d", h.Name, next)
		return r.say(ctx, h, name, &Zundoko{Spec: SaySpec{r.word(next)}})
	case h.Status.NumZundokosSaid != len(said):
		h.Status.NumZundokosSaid = len(said)
		return 0, r.Status().Update(ctx, h)
	case h.Spec.SayKiyoshi:
		wait, err := r.say(ctx, h, h.Name+"-kiyoshi", &Kiyoshi{Spec: SaySpec{"Kiyoshi!"}})
		if wait > 0 || err != nil {
			return wait, err
		}
		h.Status.Kiyoshied = true
		return 0, r.Status().Update(ctx, h)
	case isFinale(said):
		h.Spec.SayKiyoshi = true
		return 0, r.Update(ctx, h)
	default:
		h.Spec.NumZundokos++
		return 0, r.Update(ctx, h)
	}
}

// said returns the words of h in the order of the numbers in their names (creation times have a resolution of
// one second, and "-1000" sorts before "-999"), and the lowest free number, so that a gap is filled again.
func (r *reconciler) said(ctx context.Context, h *Hikawa) (words []string, next int, err error) {
	var list ZundokoList
	err = r.List(ctx, &list, client.InNamespace(h.Namespace), client.MatchingFields{ownerIndex: string(h.UID)})
	byNumber := make(map[int]string, len(list.Items))
	for _, z := range list.Items {
		suffix, ok := strings.CutPrefix(z.Name, h.Name+"-zundoko-")
		if n, err := strconv.Atoi(suffix); ok && err == nil {
			byNumber[n] = z.Spec.Say
		}
	}
	next = 1
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		words = append(words, byNumber[n])
		if n == next {
			next++
		}
	}
	return words, next, err
}

func isFinale(said []string) bool {
	i := len(said) - 5
	return i >= 0 && slices.Equal(said[i:], []string{"Zun", "Zun", "Zun", "Zun", "Doko"}) && (i == 0 || said[i-1] != "Zun")
}

// say creates a child, or returns how long to wait if it is too early: a sleep would block a worker.
func (r *reconciler) say(ctx context.Context, h *Hikawa, name string, child client.Object) (time.Duration, error) {
	key := client.ObjectKeyFromObject(h)
	interval := time.Duration(h.Spec.IntervalMillis) * time.Millisecond
	if interval > 0 { // counted from now before the first word, and after a restart
		last, _ := r.lastWord.LoadOrStore(key, time.Now())
		if wait := interval - time.Since(last.(time.Time)); wait > 0 {
			return wait, nil
		}
	}
	child.SetNamespace(h.Namespace)
	child.SetName(name)
	if err := ctrl.SetControllerReference(h, child, r.Scheme()); err != nil {
		return 0, err
	}
	err := r.Create(ctx, child)
	if apierrors.IsAlreadyExists(err) { // if it is ours, after a crash between two writes, that is a success
		child.SetOwnerReferences(nil) // or decoding could keep our reference in another controller's object
		if err = r.live.Get(ctx, client.ObjectKeyFromObject(child), child); err == nil && !metav1.IsControlledBy(child, h) {
			err = fmt.Errorf("%s is not controlled by this Hikawa", name)
		}
	}
	if err == nil && interval > 0 {
		r.lastWord.Store(key, time.Now())
	}
	return 0, err
}
