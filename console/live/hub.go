package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/questions"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Topic is a part of a page that several streams may show.
type Topic struct {
	// Key identifies the topic. Topics with equal keys have equal renderings.
	Key string
	// Every is how often it is rendered.
	Every time.Duration
	// Lists reports whether a rendering asks Temporal's visibility. It waits until the questions of all
	// renderings before it are paid for, each by a [tuning.LiveList].
	Lists bool
	// Render returns the HTML; nil keeps the last rendering. It reports whether nothing is missing. Else the next
	// rendering comes after a [tuning.LiveTable].
	Render func(context.Context) (html []byte, whole bool)
}

// Hub renders the topics of open streams. It is safe for concurrent use.
type Hub struct {
	// stopping is done once this process stops.
	stopping context.Context
	// ticks makes tickers; tests have their own.
	ticks func(time.Duration) (<-chan time.Time, func())
	// questions are those of all renderings. turn waits until one may ask another, in the context that it
	// returns.
	questions *questions.Meter
	turn      func(context.Context) (context.Context, error)

	logger *slog.Logger

	mu      sync.Mutex
	topics  map[string]*topic
	streams int
}

// New returns a hub. Its streams end once stopping is done.
func New(stopping context.Context, logger *slog.Logger) *Hub {
	asked := questions.NewMeter(tuning.LiveList, tuning.LiveDebt)
	return &Hub{stopping: stopping, ticks: ticks, questions: asked, turn: asked.Turn, logger: logger, topics: map[string]*topic{}}
}

func ticks(every time.Duration) (<-chan time.Time, func()) {
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

// topic is a topic with its watchers and its last rendering.
type topic struct {
	Topic
	stop     context.CancelFunc
	watchers map[*watcher]struct{}
	text     []byte
	hash     string
}

// watcher is one stream. It is woken when the rendering of one of its topics changes.
type watcher struct{ wake chan struct{} }

func newWatcher() *watcher { return &watcher{wake: make(chan struct{}, 1)} }

func (w *watcher) notify() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
}

// watch adds a watcher to a topic. The caller calls leave once.
func (h *Hub) watch(w *watcher, what Topic) (watched *topic, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	watched = h.topics[what.Key]
	if watched == nil {
		ctx, stop := context.WithCancel(h.stopping)
		watched = &topic{Topic: what, stop: stop, watchers: map[*watcher]struct{}{}}
		h.topics[what.Key] = watched
		go h.run(ctx, watched)
	}
	watched.watchers[w] = struct{}{}
	w.notify()
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

// run renders a topic until its last watcher has left.
func (h *Hub) run(ctx context.Context, t *topic) {
	ticks, stop := h.ticks(t.Every)
	defer stop()
	for h.awaitTick(ctx, ticks, h.render(ctx, t)) {
	}
}

// awaitTick waits until a topic is due to be rendered again: soon, unless it is whole. It returns false
// once the last watcher has left.
func (h *Hub) awaitTick(ctx context.Context, ticks <-chan time.Time, whole bool) bool {
	var soon <-chan time.Time
	if !whole {
		later, stop := h.ticks(tuning.LiveTable)
		defer stop()
		soon = later
	}
	select {
	case <-ctx.Done():
		return false
	case <-ticks:
	case <-soon:
	}
	return true
}

// render reports whether nothing of the topic is missing.
func (h *Hub) render(ctx context.Context, t *topic) (whole bool) {
	ctx, err := h.counted(ctx, t)
	if err != nil {
		return false // the last watcher has left
	}
	// A rendering that has begun is finished, also without a watcher: a call that is cut off would
	// be logged as a failure.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), tuning.LiveRender)
	defer cancel()
	text, whole := h.rendered(bounded, t)
	if text != nil {
		h.publish(t, text)
	}
	return whole
}

// counted returns a context in which the questions of a rendering are counted, once it may ask any.
func (h *Hub) counted(ctx context.Context, t *topic) (context.Context, error) {
	if t.Lists {
		return h.turn(ctx)
	}
	return h.questions.Counted(ctx), nil
}

// rendered returns what a topic shows; nil for as it was. A page that panics fails one request.
// Here no request is there to fail, and the process must go on.
func (h *Hub) rendered(ctx context.Context, t *topic) (text []byte, whole bool) {
	defer func() {
		if p := recover(); p != nil {
			h.logger.Error("a page could not be kept up to date", "topic", t.Key, "panic", fmt.Sprint(p))
			text, whole = nil, true
		}
	}()
	return t.Render(ctx)
}

// publish stores a rendering, and wakes the watchers if it differs from the last one.
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
		w.notify()
	}
}

// shown returns the last rendering of a topic and its hash; "" for none yet.
func (h *Hub) shown(t *topic) (text []byte, hash string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return t.text, t.hash
}

// admit counts a stream, and reports whether there is room for it.
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
