package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// songs makes the same API calls as the function on Denrei: all words that need no pause in one reconcile, then one
// merge patch for the spec and one for the status.
type songs struct {
	*children
	written sync.Map // client.ObjectKey -> resourceVersion of the last write
}

func (r *songs) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var h Hikawa
	if err := r.Get(ctx, req.NamespacedName, &h); err != nil || h.DeletionTimestamp != nil || h.Status.Kiyoshied {
		r.lastWord.Delete(req.NamespacedName)
		r.written.Delete(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.isBehind(&h) {
		return ctrl.Result{}, nil
	}
	wait, err := r.sing(ctx, &h)
	return ctrl.Result{RequeueAfter: wait}, err
}

// isBehind reports whether the cache lacks the last write, whose event starts the next reconcile.
func (r *songs) isBehind(h *Hikawa) bool {
	written, ok := r.written.Load(client.ObjectKeyFromObject(h))
	if !ok {
		return false
	}
	last, _ := strconv.ParseUint(written.(string), 10, 64)
	cached, _ := strconv.ParseUint(h.ResourceVersion, 10, 64)
	return cached < last
}

// sing says the words that need no pause, and returns how long to wait for the next one.
func (r *songs) sing(ctx context.Context, h *Hikawa) (time.Duration, error) {
	said, err := r.said(ctx, h)
	for err == nil && !said.isOver() {
		if len(said) > 0 {
			if wait := r.pause(h); wait > 0 {
				return wait, r.record(ctx, h, said, false)
			}
		}
		err = r.sayNext(ctx, h, said)
	}
	if err != nil {
		return 0, err
	}
	if wait := r.pause(h); wait > 0 {
		return wait, r.record(ctx, h, said, false)
	}
	if err := r.patchSpec(ctx, h, said, true); err != nil {
		return 0, err
	}
	if err := r.sayKiyoshi(ctx, h); err != nil {
		return 0, err
	}
	return 0, r.record(ctx, h, said, true)
}

// record writes the state of the song to spec and status, as far as it differs.
func (r *songs) record(ctx context.Context, h *Hikawa, said song, kiyoshied bool) error {
	if err := r.patchSpec(ctx, h, said, kiyoshied || h.Spec.SayKiyoshi); err != nil {
		return err
	}
	if h.Status.NumZundokosSaid == len(said) && h.Status.Kiyoshied == kiyoshied {
		return nil
	}
	before := h.DeepCopyObject().(*Hikawa)
	h.report(len(said), kiyoshied)
	err := r.Status().Patch(ctx, h, client.MergeFrom(before))
	return r.wrote(h, err)
}

func (r *songs) patchSpec(ctx context.Context, h *Hikawa, said song, sayKiyoshi bool) error {
	before := h.DeepCopyObject().(*Hikawa)
	h.Spec.NumZundokos, h.Spec.SayKiyoshi = len(said), sayKiyoshi
	if h.Spec == before.Spec {
		return nil
	}
	err := r.Patch(ctx, h, client.MergeFrom(before))
	return r.wrote(h, err)
}

func (r *songs) wrote(h *Hikawa, err error) error {
	if err == nil {
		r.written.Store(client.ObjectKeyFromObject(h), h.ResourceVersion)
	}
	return err
}
