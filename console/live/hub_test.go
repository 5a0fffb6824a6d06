package live

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/wakecall/wakecall/internal/tuning"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// steppedHub is a hub whose clock goes on when a test says so.
type steppedHub struct {
	*Hub
	tick, soon, beat chan time.Time
	stop             context.CancelFunc
}

const shown = time.Minute // how often the topics of these tests are rendered

func openHub(t *testing.T) *steppedHub {
	t.Helper()
	stopping, stop := context.WithCancel(context.Background())
	h := &steppedHub{Hub: New(stopping, slog.New(slog.DiscardHandler)), tick: make(chan time.Time), soon: make(chan time.Time), beat: make(chan time.Time), stop: stop}
	h.ticks = func(every time.Duration) (<-chan time.Time, func()) {
		switch every {
		case shown:
			return h.tick, func() {}
		case tuning.LiveTable:
			return h.soon, func() {}
		default:
			return h.beat, func() {}
		}
	}
	h.turn = func(ctx context.Context) (context.Context, error) { return ctx, nil }
	t.Cleanup(stop)
	return h
}

// page is an answer that a test reads while it is written.
type page struct {
	header http.Header
	wrote  chan string
	text   strings.Builder
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}
func (p *page) Flush()              { p.wrote <- p.text.String(); p.text.Reset() }
func (p *page) Write(b []byte) (int, error) {
	return p.text.Write(b)
}

// follow opens a stream. Done is closed when it has ended.
func (h *steppedHub) follow(ctx context.Context, stays func() bool, last string, topics ...Topic) (p *page, done chan struct{}) {
	p, done = &page{header: http.Header{}, wrote: make(chan string, 8)}, make(chan struct{})
	r := httptest.NewRequest(http.MethodGet, "/console/live", nil).WithContext(ctx)
	r.Header.Set("Last-Event-ID", last)
	go func() {
		defer close(done)
		h.Serve(p, r, stays, topics...)
	}()
	return p, done
}

func always() bool { return true }

// counter renders how often it was asked, or the same again and again.
type counter struct {
	asked atomic.Int64
	same  atomic.Bool
	// partial has it say that something is missing.
	partial atomic.Bool
	asks    chan struct{}
}

func (c *counter) topic(key string) Topic {
	return Topic{Key: key, Every: shown, Render: func(context.Context) ([]byte, bool) {
		n := c.asked.Add(1)
		defer func() {
			if c.asks != nil {
				c.asks <- struct{}{}
			}
		}()
		if c.same.Load() {
			return []byte("same"), true
		}
		return []byte("n\n" + strconv.FormatInt(n, 10)), !c.partial.Load()
	}}
}

// A hundred who watch cost as much as one.
func TestOneRenderingForAll(t *testing.T) {
	h, c := openHub(t), &counter{}
	ctx, leave := context.WithCancel(t.Context())
	var pages []*page
	var ends []chan struct{}
	for range 100 {
		p, done := h.follow(ctx, always, "", c.topic("a"))
		require.Equal(t, "retry: 500\n\n", <-p.wrote)
		require.Contains(t, <-p.wrote, "data: n\ndata: 1\n\n", "who comes later is shown what was rendered")
		pages, ends = append(pages, p), append(ends, done)
	}
	require.EqualValues(t, 1, c.asked.Load())
	h.tick <- time.Now()
	for _, p := range pages {
		require.Contains(t, <-p.wrote, "data: n\ndata: 2\n\n")
	}
	require.EqualValues(t, 2, c.asked.Load())
	other, _ := h.follow(ctx, always, "", c.topic("b"))
	<-other.wrote
	<-other.wrote
	require.EqualValues(t, 3, c.asked.Load(), "another topic is rendered for itself")
	leave()
	for _, done := range ends {
		<-done
	}
}

// What is as it was is not sent, and nothing is rendered once nobody watches.
func TestWhatIsSentAndWhenItEnds(t *testing.T) {
	h, c := openHub(t), &counter{asks: make(chan struct{})}
	c.same.Store(true)
	ctx, leave := context.WithCancel(t.Context())
	p, done := h.follow(ctx, always, "", c.topic("a"))
	<-p.wrote
	<-c.asks
	first := <-p.wrote
	id, _, _ := strings.Cut(strings.TrimPrefix(first, "id: "), "\n")
	require.Equal(t, "id: "+id+"\ndata: same\n\n", first)
	h.tick <- time.Now()
	<-c.asks
	h.beat <- time.Now()
	require.Equal(t, "event: beat\ndata:\n\n", <-p.wrote, "nothing was sent before the beat")
	again, over := h.follow(ctx, always, id, c.topic("a"))
	<-again.wrote
	c.same.Store(false)
	h.tick <- time.Now()
	<-c.asks
	require.Contains(t, <-again.wrote, "data: n\n", "who has seen the same is sent what comes next")
	require.Contains(t, <-p.wrote, "data: n\n")
	leave()
	<-done
	<-over
	require.Empty(t, h.topics, "nobody watches it")
	require.Zero(t, h.streams)
}

// What lacks a part is rendered again soon, and what is whole in its own time.
func TestAPartThatIsMissingComesSoon(t *testing.T) {
	h, c := openHub(t), &counter{}
	c.partial.Store(true)
	p, _ := h.follow(t.Context(), always, "", c.topic("a"))
	<-p.wrote
	require.Contains(t, <-p.wrote, "data: 1\n")
	h.soon <- time.Now()
	require.Contains(t, <-p.wrote, "data: 2\n")
	c.partial.Store(false)
	h.soon <- time.Now()
	require.Contains(t, <-p.wrote, "data: 3\n")
	select {
	case h.soon <- time.Now():
		require.Fail(t, "it is whole, and rendered again")
	case h.tick <- time.Now():
	}
	require.Contains(t, <-p.wrote, "data: 4\n")
}

// A page that panics stays as it was, and is rendered again.
func TestAPageThatPanics(t *testing.T) {
	h, c := openHub(t), &counter{asks: make(chan struct{})}
	whole := c.topic("a")
	topic := whole
	topic.Render = func(ctx context.Context) ([]byte, bool) {
		text, all := whole.Render(ctx)
		if c.asked.Load() == 2 {
			panic("a template's") //nolint:forbidigo // the fault
		}
		return text, all
	}
	p, _ := h.follow(t.Context(), always, "", topic)
	<-p.wrote
	<-c.asks
	require.Contains(t, <-p.wrote, "data: 1\n")
	for range 2 {
		h.tick <- time.Now()
		<-c.asks
	}
	require.Contains(t, <-p.wrote, "data: 3\n")
}

// A stream ends with its session before anything else is sent, and with the process.
func TestStreamsEnd(t *testing.T) {
	h, c := openHub(t), &counter{}
	var out atomic.Bool
	p, done := h.follow(t.Context(), func() bool { return !out.Load() }, "", c.topic("a"))
	<-p.wrote
	<-p.wrote
	out.Store(true)
	h.tick <- time.Now()
	<-done
	require.Empty(t, p.wrote)
	p, done = h.follow(t.Context(), always, "", c.topic("a"))
	<-p.wrote
	h.stop()
	<-done
}

// Who finds no room is told to come back, and what ends says that it does.
func TestFull(t *testing.T) {
	h := openHub(t)
	h.streams = 1 << 30
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), always)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	w = httptest.NewRecorder()
	End(w, []byte("a\r\nb"))
	require.Equal(t, "retry: 500\n\ndata: a\ndata: b\n\nevent: over\ndata:\n\n", w.Body.String())
}
