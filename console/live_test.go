package console_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// stream is an open page, event by event.
type stream struct {
	t      testing.TB
	lines  *bufio.Scanner
	answer *http.Response
}

// follow opens the stream of a page; it ends with the test.
func (h *harness) follow(page string) *stream {
	h.t.Helper()
	ctx, leave := context.WithCancel(h.t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/console/live?"+url.Values{"page": {page}}.Encode(), nil)
	require.NoError(h.t, err)
	answer, err := h.client.Do(request)
	require.NoError(h.t, err)
	h.t.Cleanup(func() {
		leave()
		_ = answer.Body.Close()
	})
	require.Equal(h.t, http.StatusOK, answer.StatusCode)
	require.Equal(h.t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{h.t, lines, answer}
}

// next is the next event with any data; "" at the end.
func (s *stream) next() string {
	var event strings.Builder
	for s.lines.Scan() {
		switch line := s.lines.Text(); {
		case line == "" && strings.Contains(event.String(), "data: "):
			return event.String()
		case line == "":
			event.Reset()
		default:
			event.WriteString(line + "\n")
		}
	}
	return event.String()
}

// page is the next event that has what the page shows.
func (s *stream) page() string {
	s.t.Helper()
	for {
		event := s.next()
		require.NotEmpty(s.t, event, "the stream has ended")
		if strings.Contains(event, "#main") {
			return event
		}
	}
}

// What a page shows of the whole appears in it, for who may see it.
func TestAPageLives(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	h.shelf.rules = []policy.Policy{closing(), {BusinessType: "invoice"}}
	h.signIn("anna")
	page := h.get("/console/timers?q=type:order-close&done=x").body
	require.Contains(t, page, `hx-sse:connect="/console/live?page=%2Fconsole%2Ftimers%3Fq%3Dtype%253Aorder-close"`, "what was done is not said again")
	shown := h.follow("/console/timers?q=type:order-close").page()
	require.Contains(t, shown, `id="row-order-close/1"`)
	require.NotContains(t, shown, " ago", "what time alone changes is not sent")
	require.NotContains(t, h.follow("/console/types").page(), "invoice", "anna may not see it")
	h.signIn("root")
	require.Contains(t, h.follow("/console/types").page(), "invoice")
	require.Contains(t, h.follow("/console/timers/order-close/1").page(), "order-close")
	require.Contains(t, h.follow("/console/nowhere").next(), "#strip", "every page has the strip")
}

// A page that lives shows what it showed when it was loaded: who may see payloads sees what receivers answer,
// and nobody else does.
func TestALivingPageShowsAnswersAsBefore(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: append(staff, entryOf("vera", "vera", ":viewer+payloads:order-*")), secret: seal.NewKey(), every: time.Hour})
	h.shelf.views, h.shelf.story = []timer.View{viewOf(timer.Failed)}, storyOf("full")
	h.shelf.payload = timer.Payload{Data: []byte("1"), ContentType: timer.ContentTypeJSON}
	for who, sees := range map[string]bool{"vera": true, "eve": false} {
		h.signIn(who)
		for name, page := range map[string]string{"loaded": h.get(timerPath).body, "living": h.follow(timerPath).page()} {
			require.Equal(t, sees, strings.Contains(page, `<pre dir="auto">full</pre>`), "%s %s", who, name)
			require.Equal(t, sees, strings.Contains(page, timerPath+"/payload"), "%s %s", who, name)
			require.Equal(t, sees, strings.Contains(page, "SHA-256"), "%s %s", who, name)
			require.Contains(t, page, "1 byte<")
			require.Contains(t, page, "7 ms late")
		}
	}
}

// A hundred who watch a list read it as often as one.
func TestAHundredViewers(t *testing.T) {
	t.Parallel()
	h := open(t, plan{every: time.Hour})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	asked := func() int {
		h.shelf.mu.Lock()
		defer h.shelf.mu.Unlock()
		return len(h.shelf.asked)
	}
	h.follow("/console/timers").page()
	before := asked()
	for range 100 {
		h.follow("/console/timers").page()
	}
	require.LessOrEqual(t, asked()-before, 4, "the ticks of the meantime, and no more")
}

// Without a session nothing is sent but that there is none; one that ends, ends its stream.
func TestSessionsOfStreams(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	over := h.follow("/console/timers")
	require.Contains(t, over.next(), "Sign in to go on")
	for event := over.next(); event != ""; event = over.next() {
		require.NotContains(t, event, "order-close")
	}
}

// What could not be read of a page comes soon, also where the page is seldom rendered.
func TestWhatCouldNotBeReadComesSoon(t *testing.T) {
	t.Parallel()
	h := open(t, plan{every: time.Hour})
	h.shelf.rules, h.shelf.ahead = []policy.Policy{closing()}, stepsFrom(*h.now)
	h.shelf.nearby.Store(true)
	const coming = "The later days are being counted."
	s := h.follow("/console/forecast?type=order-close")
	require.Contains(t, s.page(), coming)
	h.shelf.nearby.Store(false)
	counted := make(chan string, 1)
	go func() {
		event := s.next()
		for event != "" && !strings.Contains(event, "#main") {
			event = s.next()
		}
		counted <- event
	}()
	select {
	case event := <-counted:
		require.Contains(t, event, "#main")
		require.NotContains(t, event, coming)
	case <-time.After(tuning.LiveHeat / 2): // a slow machine has time, and the next whole rendering is still to come
		require.Fail(t, "the rest of the page did not come")
	}
}

// The plots of a page are drawn apart from the rest of it, which leaves alone those that it has.
func TestPlotsAreDrawnApart(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{every: time.Hour})
	h.shelf.rules = []policy.Policy{closing()}
	for _, page := range []string{"/console/", typePage} {
		loaded := h.get(page).body
		require.Contains(t, loaded, `<div id="drawn"><figure class="plots"`, "a page that is loaded is whole")
		require.Contains(t, loaded, "details.ask[open], #drawn")
		s, sent := h.follow(page), ""
		for !strings.Contains(sent, `hx-target="#main"`) || !strings.Contains(sent, `hx-target="#drawn"`) {
			event := s.next()
			require.NotEmpty(t, event, "the stream has ended")
			sent += event
		}
		require.Contains(t, sent, `<div id="drawn"></div>`)
		require.Equal(t, 1, strings.Count(sent, `<figure class="plots"`))
		_, drawn, _ := strings.Cut(sent, `hx-target="#drawn"`)
		require.Contains(t, drawn, `<figure class="plots"`)
	}
}
