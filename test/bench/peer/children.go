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

// children reads and creates the children of Hikawas, for both reconcilers.
type children struct {
	client.Client               // reads from the cache
	live          client.Reader // reads from the API server
	word          func(n int) string
	replica       string
	lastWord      sync.Map // client.ObjectKey -> time.Time, only of Hikawas that have an interval
}

// song has the words by the numbers in their names (creation times have a resolution of one second, and "-1000"
// sorts before "-999").
type song map[int]string

func (s song) words() []string {
	words := make([]string, 0, len(s))
	for _, n := range slices.Sorted(maps.Keys(s)) {
		words = append(words, s[n])
	}
	return words
}

// next is the lowest free number, so that a gap is filled again.
func (s song) next() int {
	for n := 1; ; n++ {
		if _, said := s[n]; !said {
			return n
		}
	}
}

func (s song) isOver() bool {
	said := s.words()
	i := len(said) - 5
	return i >= 0 && slices.Equal(said[i:], []string{"Zun", "Zun", "Zun", "Zun", "Doko"}) && (i == 0 || said[i-1] != "Zun")
}

// said returns the words of h that the cache has.
func (c *children) said(ctx context.Context, h *Hikawa) (song, error) {
	var list ZundokoList
	err := c.List(ctx, &list, client.InNamespace(h.Namespace), client.MatchingFields{ownerIndex: string(h.UID)})
	said := make(song, len(list.Items))
	for _, z := range list.Items {
		suffix, ok := strings.CutPrefix(z.Name, h.Name+"-zundoko-")
		if n, err := strconv.Atoi(suffix); ok && err == nil {
			said[n] = z.Spec.Say
		}
	}
	return said, err
}

// pause returns how long to wait if it is too early for the next word: a sleep would block a worker. Without an
// earlier word, and after a restart, the interval begins now.
func (c *children) pause(h *Hikawa) time.Duration {
	interval := time.Duration(h.Spec.IntervalMillis) * time.Millisecond
	if interval == 0 {
		return 0
	}
	last, _ := c.lastWord.LoadOrStore(client.ObjectKeyFromObject(h), time.Now())
	return max(0, interval-time.Since(last.(time.Time)))
}

// sayNext creates the word with the lowest free number, and adds it to said.
func (c *children) sayNext(ctx context.Context, h *Hikawa, said song) error {
	n := said.next()
	z := &Zundoko{Spec: SaySpec{c.word(n)}}
	z.Annotations = map[string]string{
		group + "/said-at": time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		group + "/said-by": c.replica,
	}
	if err := c.create(ctx, h, fmt.Sprintf("%s-zundoko-%03d", h.Name, n), z); err != nil {
		return err
	}
	said[n] = z.Spec.Say
	return nil
}

func (c *children) sayKiyoshi(ctx context.Context, h *Hikawa) error {
	k := &Kiyoshi{Spec: SaySpec{"Kiyoshi!"}}
	k.Annotations = map[string]string{group + "/said-by": c.replica}
	return c.create(ctx, h, h.Name+"-kiyoshi", k)
}

// create creates a child of h, or reads the one that h has under this name already.
func (c *children) create(ctx context.Context, h *Hikawa, name string, child client.Object) error {
	child.SetNamespace(h.Namespace)
	child.SetName(name)
	if err := ctrl.SetControllerReference(h, child, c.Scheme()); err != nil {
		return err
	}
	err := c.Create(ctx, child)
	if apierrors.IsAlreadyExists(err) { // if it is ours, after a crash between two writes, that is a success
		child.SetOwnerReferences(nil) // or decoding could keep our reference in another controller's object
		if err = c.live.Get(ctx, client.ObjectKeyFromObject(child), child); err == nil && !metav1.IsControlledBy(child, h) {
			err = fmt.Errorf("%s is not controlled by this Hikawa", name)
		}
	}
	if err == nil && h.Spec.IntervalMillis > 0 {
		c.lastWord.Store(client.ObjectKeyFromObject(h), time.Now())
	}
	return err
}
