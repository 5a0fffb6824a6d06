package site

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// slowAPI answers with how many calls it has had, once it may.
type slowAPI struct {
	calls atomic.Int64
	mu    sync.Mutex
	goOn  chan struct{}
}

// block has the calls from now on wait until what it returns is called.
func (a *slowAPI) block() (goOn func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	blocked := make(chan struct{})
	a.goOn = blocked
	return func() { close(blocked) }
}

func (a *slowAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	goOn := a.goOn
	a.mu.Unlock()
	<-goOn
	if strings.Contains(r.URL.Path, "broken") {
		panic("broken") //nolint:forbidigo // the fault
	}
	_, _ = io.WriteString(w, `{"n":`+strings.Repeat("1", int(a.calls.Add(1)))+`}`)
}

// counted is what that says.
type counted struct {
	N int `json:"n"`
}

func slowSite(t *testing.T) (*Site, *slowAPI) {
	t.Helper()
	api := &slowAPI{}
	logger := slog.New(slog.DiscardHandler)
	shared := Site{Logger: logger, Now: time.Now}.WithAPI(calls.Sender{API: api, Log: logger}, watch.Pace{})
	return &shared, api
}

func visitOf(page string, role auth.Role) *Visit {
	v := NewVisit(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, page, nil))
	v.Who = &auth.Principal{Name: "eve", Grants: []auth.Grant{{Role: role, Types: []string{"*"}}}}
	return v
}

func isOld(v *Visit) bool { return v.reads.shown().old }

// A page that is opened after a while has what was known then, and says that it is being read anew: nothing
// says that it cannot be read.
func TestAPageAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api, logger := &slowAPI{}, slog.New(slog.DiscardHandler)
		s := Site{Logger: logger, Now: time.Now, Sessions: &sessions.Sessions{Auth: auth.Anyone()}}.WithAPI(calls.Sender{API: api, Log: logger}, watch.Shipped())
		frame := func() *Frame { return new(s.Frame(visitOf("/console/", auth.Viewer), "overview.title")) }
		goOn := api.block()
		goOn()
		frame()
		synctest.Wait()
		require.Empty(t, frame().Age())

		goOn = api.block()
		<-time.After(time.Minute)
		began := time.Now()
		opened := frame()
		require.Equal(t, opened.T("unread.anew"), opened.Age())
		require.Equal(t, began.Add(-time.Minute), opened.Since())
		require.False(t, opened.Old())
		require.True(t, opened.Refresh())
		goOn()
		synctest.Wait()
		require.Empty(t, frame().Age())
	})
}

// A page does not wait for an API that does not answer: it has the last answer to the same page for the
// same rights, and knows from when. The call goes on, and the next page has its answer.
func TestAPageDoesNotWait(t *testing.T) {
	t.Parallel()
	s, api := slowSite(t)
	read := func(page, path string, role auth.Role, patience time.Duration) (int, *Visit, *calls.Problem) {
		s.Timeouts.Page = patience
		v, to := visitOf(page, role), counted{}
		_, problem := s.Call(v, calls.Get(path), &to)
		return to.N, v, problem
	}
	api.block()()
	n, v, problem := read("/console/a", "/v1/a", auth.Viewer, 0)
	require.Nil(t, problem)
	require.Equal(t, 1, n)
	require.False(t, isOld(v))

	goOn := api.block()
	n, v, problem = read("/console/a?done=x&lang=en", "/v1/a", auth.Viewer, 1)
	require.Nil(t, problem)
	require.Equal(t, 1, n, "what was known last")
	require.True(t, isOld(v))
	for name, other := range map[string]func() (int, *Visit, *calls.Problem){
		"another page":   func() (int, *Visit, *calls.Problem) { return read("/console/b", "/v1/a", auth.Viewer, 1) },
		"another call":   func() (int, *Visit, *calls.Problem) { return read("/console/a", "/v1/b", auth.Viewer, 1) },
		"another's role": func() (int, *Visit, *calls.Problem) { return read("/console/a", "/v1/a", auth.Admin, 1) },
	} {
		_, _, problem = other()
		require.Equal(t, http.StatusServiceUnavailable, calls.StatusOf(problem), name)
	}
	fresh := calls.Get("/v1/a")
	fresh.Fresh = true
	_, problem = s.Call(visitOf("/console/a", auth.Viewer), fresh, &counted{})
	require.Equal(t, http.StatusServiceUnavailable, calls.StatusOf(problem), "of what is asked for anew no old answer is shown")
	require.EqualValues(t, 1, api.calls.Load(), "none was answered")

	goOn()
	n, v, problem = read("/console/a", "/v1/a", auth.Viewer, 0)
	require.Nil(t, problem)
	require.Greater(t, n, 1)
	require.False(t, isOld(v))
	_, _, problem = read("/console/a", "/v1/broken", auth.Viewer, 0)
	require.Equal(t, http.StatusInternalServerError, calls.StatusOf(problem), "a panic ends the call, and not the process")
}

// What its stream brings keeps no page waiting that is loaded.
func TestAPageDoesNotWaitForItsFigures(t *testing.T) {
	t.Parallel()
	s, api := slowSite(t)
	s.Timeouts = Timeouts{Brief: time.Millisecond} // for anything else it would wait for ever
	goOn := api.block()
	_, problem := s.Call(visitOf("/console/a", auth.Viewer), calls.Get("/v1/a").Within(time.Hour).Briefly(), nil)
	require.Equal(t, http.StatusServiceUnavailable, calls.StatusOf(problem))
	goOn()
	part := visitOf("/console/a", auth.Viewer)
	part.Part = true
	_, problem = s.Call(part, calls.Get("/v1/a").Within(time.Hour).Briefly(), nil)
	require.Nil(t, problem, "nobody waits for what of an open page changes")
	goOn = api.block()
	_, problem = s.Call(visitOf("/console/a", auth.Viewer), calls.Get("/v1/a").Within(time.Hour).Briefly(), nil)
	require.Nil(t, problem, "it is known now")
	goOn()
}

// Visits for the same share a call, but not one from before a change that was made here: who made it
// sees it. What is asked for anew is asked for each time, and is kept by no memory.
func TestWhichCallsAreShared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fresh   bool
		between func(*Site)
		calls   int64
		kept    int
	}{
		"the same":       {false, func(*Site) {}, 1, 1},
		"after a change": {false, func(s *Site) { s.Watch.Changed() }, 2, 1},
		"asked anew":     {true, func(*Site) {}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, api := slowSite(t)
				goOn := api.block()
				var all sync.WaitGroup
				visit := func() {
					asked := calls.Get("/v1/a")
					asked.Fresh = c.fresh
					_, problem := s.Call(visitOf("/console/a", auth.Viewer), asked, &counted{})
					require.Nil(t, problem)
				}
				all.Go(visit)
				synctest.Wait()
				c.between(s)
				all.Go(visit)
				synctest.Wait()
				goOn()
				all.Wait()
				require.Equal(t, c.calls, api.calls.Load())
				require.Len(t, s.memory.kept, c.kept)
			})
		})
	}
}

// A page that is loaded has an answer that is young enough. What of an open page changes is asked for
// anew, and so is what may have changed.
func TestAYoungAnswerIsShownAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between func(*Site, *Visit)
		calls   int64
	}{
		"at once":          {func(*Site, *Visit) {}, 1},
		"too late":         {func(*Site, *Visit) { <-time.After(time.Minute) }, 2},
		"a part":           {func(_ *Site, v *Visit) { v.Part = true }, 2},
		"after a change":   {func(s *Site, _ *Visit) { s.Watch.Changed() }, 2},
		"for another role": {func(_ *Site, v *Visit) { v.Who.Grants[0].Role = auth.Admin }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, api := slowSite(t)
				api.block()()
				asked := calls.Get("/v1/a").Within(time.Minute)
				_, problem := s.Call(visitOf("/console/a", auth.Viewer), asked, &counted{})
				require.Nil(t, problem)
				v, to := visitOf("/console/a", auth.Viewer), counted{}
				c.between(s, v)
				_, problem = s.Call(v, asked, &to)
				require.Nil(t, problem)
				require.Equal(t, c.calls, api.calls.Load())
				require.False(t, isOld(v), "that is not said to be old")
				require.Positive(t, to.N)
			})
		})
	}
}

// What is kept is bounded, and the oldest gives way.
func TestTheMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := newMemory()
	answer := func(at int64) known {
		a := &calls.Answer{}
		_, _ = a.Write(make([]byte, tuning.KeptBytes/4))
		return known{Answer: a, at: time.Unix(at, 0)}
	}
	for i, key := range []string{"a", "b", "c", "a", "d", "e"} {
		m.put(key, answer(int64(i)))
	}
	require.LessOrEqual(t, m.size, tuning.KeptBytes)
	for key, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true, "e": true} {
		_, ok := m.get(key)
		require.Equal(t, want, ok, key)
	}
	m.put("f", known{Answer: &calls.Answer{}, at: time.Unix(9, 0)})
	require.Len(t, m.kept, 4)
	require.Equal(t, 3*(tuning.KeptBytes/4)+4*tuning.KeptOverhead, m.size)
}
