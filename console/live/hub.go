package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Topic is something that several watch.
type Topic struct {
	// Key tells it from others. Two topics with the same key show the same.
	Key string
	// Every is how often it is rendered.
	Every time.Duration
	// Lists reports whether a rendering reads a list of Temporal's visibility. Such renderings take turns.
	Lists bool
	// Render returns what to show; nil for as it was.
	Render func(context.Context) []byte
}

// Hub renders the topics that are watched.
type Hub struct {
	// left is done once this process leaves.
	left context.Context
	// ticks is the clock of what recurs.
	ticks func(time.Duration) (<-chan time.Time, func())
	// turn waits until another list may be read.
	turn   func(context.Context) error
	logger *slog.Logger

	mu      sync.Mutex
	topics  map[string]*topic
	streams int
}

// New returns a hub. Its streams end once left is done.
func New(left context.Context, logger *slog.Logger) *Hub {
	lists := rate.NewLimiter(rate.Every(tuning.LiveList), 1)
	return &Hub{left: left, ticks: ticks, turn: lists.Wait, logger: logger, topics: map[string]*topic{}}
}

func ticks(every time.Duration) (<-chan time.Time, func()) {
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

// topic is a topic with who watches it, and what it showed last.
type topic struct {
	Topic
	stop     context.CancelFunc
	watchers map[*watcher]struct{}
	text     []byte
	hash     string
}

// watcher is one stream. It is woken when one of its topics shows something else.
type watcher struct{ wake chan struct{} }

func newWatcher() *watcher { return &watcher{wake: make(chan struct{}, 1)} }

func (w *watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
}

// watch has a watcher follow a topic, until it leaves.
func (h *Hub) watch(w *watcher, what Topic) (watched *topic, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	watched = h.topics[what.Key]
	if watched == nil {
		ctx, stop := context.WithCancel(h.left)
		watched = &topic{Topic: what, stop: stop, watchers: map[*watcher]struct{}{}}
		h.topics[what.Key] = watched
		go h.run(ctx, watched)
	}
	watched.watchers[w] = struct{}{}
	w.rouse()
	return watched, func() { h.unwatch(w, watched) }
}

func (h *Hub) unwatch(w *watcher, watched *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(watched.watchers, w)
	if len(watched.watchers) == 0 {
		delete(h.topics, watched.Key)
		watched.stop()
	}
}

// run renders a topic until nobody watches it.
func (h *Hub) run(ctx context.Context, t *topic) {
	ticks, stop := h.ticks(t.Every)
	defer stop()
	for {
		h.render(ctx, t)
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

func (h *Hub) render(ctx context.Context, t *topic) {
	if t.Lists && h.turn(ctx) != nil {
		return // nobody waits for it
	}
	// One that has begun is finished, even if nobody waits for it any more: half a call looks like a failure.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), tuning.LiveRender)
	defer cancel()
	if text := h.rendered(bounded, t); text != nil {
		h.publish(t, text)
	}
}

// rendered returns what a topic shows; nil for as it was. A page that panics fails one request.
// Here no request is there to fail, and the process must go on.
func (h *Hub) rendered(ctx context.Context, t *topic) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			h.logger.Error("a page could not be kept up to date", "topic", t.Key, "panic", fmt.Sprint(p))
			text = nil
		}
	}()
	return t.Render(ctx)
}

// publish wakes those who watch a topic, if it shows something else.
func (h *Hub) publish(t *topic, text []byte) {
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:8])
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.hash == hash {
		return
	}
	t.text, t.hash = text, hash
	for w := range t.watchers {
		w.rouse()
	}
}

// shown is what a topic shows now, and its hash; "" for nothing yet.
func (h *Hub) shown(t *topic) (text []byte, hash string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return t.text, t.hash
}

// admit counts a stream. It reports whether there is room for one.
func (h *Hub) admit() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams >= tuning.LiveStreams {
		return false
	}
	h.streams++
	return true
}

func (h *Hub) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams--
}
