package main

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// steps takes one step per reconcile, which is at most one write (the last step: two). The event of that write
// starts the next step, so the cache has always seen the write by then.
type steps struct{ *children }

func (r steps) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
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
func (r steps) step(ctx context.Context, h *Hikawa) (time.Duration, error) {
	said, err := r.said(ctx, h)
	if err != nil {
		return 0, err
	}
	switch {
	case h.Spec.NumZundokos > len(said):
		if wait := r.pause(h); wait > 0 {
			return wait, nil
		}
		return 0, r.sayNext(ctx, h, said)
	case h.Status.NumZundokosSaid != len(said):
		h.report(len(said), false)
		return 0, r.Status().Update(ctx, h)
	case h.Spec.SayKiyoshi:
		if wait := r.pause(h); wait > 0 {
			return wait, nil
		}
		if err := r.sayKiyoshi(ctx, h); err != nil {
			return 0, err
		}
		h.report(len(said), true)
		return 0, r.Status().Update(ctx, h)
	case said.isOver():
		h.Spec.SayKiyoshi = true
		return 0, r.Update(ctx, h)
	default:
		h.Spec.NumZundokos++
		return 0, r.Update(ctx, h)
	}
}
