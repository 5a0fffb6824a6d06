package watch

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Many that look make one look, and no more than the pace lets.
func TestOneLookForAll(t *testing.T) {
	t.Parallel()
	now, looks := time.Unix(1000, 0), atomic.Int64{}
	w := &Watch{Pace: Pace{Every: 4 * time.Second, Wait: time.Minute}, now: func() time.Time { return now }}
	w.look = func(*Picture) *Picture {
		looks.Add(1)
		return &Picture{At: now}
	}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { require.Equal(t, now, w.Picture(t.Context()).At) })
	}
	all.Wait()
	require.EqualValues(t, 1, looks.Load())
	now = now.Add(4*time.Second - 1)
	w.Picture(t.Context())
	require.EqualValues(t, 1, looks.Load())
	now = now.Add(1)
	require.Equal(t, now, w.Picture(t.Context()).At)
	require.EqualValues(t, 2, looks.Load())
	w.Changed()
	w.Picture(t.Context())
	w.Picture(t.Context())
	require.EqualValues(t, 3, looks.Load(), "what was changed here is shown at once")
}

// A look that takes long keeps no page waiting that has an older one, and a look that began
// before a change does not show it.
func TestALookThatTakesLong(t *testing.T) {
	t.Parallel()
	now, goOn := time.Unix(1000, 0), make(chan struct{})
	w := &Watch{Pace: Pace{}, now: func() time.Time { return now }}
	w.last = &Picture{At: time.Unix(1, 0)}
	began := make(chan struct{})
	w.look = func(*Picture) *Picture {
		close(began)
		<-goOn
		return &Picture{At: now}
	}
	require.Equal(t, time.Unix(1, 0), w.Picture(t.Context()).At)
	<-began
	w.Changed()
	w.look = func(*Picture) *Picture { return &Picture{At: time.Unix(2000, 0)} }
	w.Every, w.Wait = time.Hour, time.Minute
	require.Equal(t, time.Unix(2000, 0), w.Picture(t.Context()).At)
	close(goOn)
}

// Where the last picture is recent, a slow look keeps no page waiting. One that is old, or that lacks a
// change that was made here, does.
func TestARecentPictureIsShownAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &Watch{Pace: Pace{Every: 5 * time.Second, Wait: time.Minute, Briefly: time.Millisecond, Recent: 15 * time.Second, Old: 10 * time.Second}, now: time.Now}
		w.look = func(*Picture) *Picture {
			at := time.Now()
			time.Sleep(3 * time.Second) //nolint:forbidigo // the time of the bubble
			return &Picture{At: at}
		}
		waits := func(pause time.Duration) time.Duration {
			time.Sleep(pause) //nolint:forbidigo // the time of the bubble
			began := time.Now()
			w.Picture(t.Context())
			return time.Since(began)
		}
		require.Equal(t, 3*time.Second, waits(0), "nothing is known")
		require.Zero(t, waits(time.Second), "it is fresh")
		require.Zero(t, waits(5*time.Second), "the next one is begun")
		require.Zero(t, waits(3*time.Second), "it has ended meanwhile")
		require.False(t, w.IsOld(w.Last()))
		require.Equal(t, time.Millisecond, waits(10*time.Second), "it is recent")
		require.True(t, w.IsOld(w.Last()))
		require.Zero(t, waits(3*time.Second), "the look has ended meanwhile")
		require.Equal(t, 3*time.Second, waits(20*time.Second), "it is old")
		require.False(t, w.IsOld(w.Last()))
		w.Changed()
		require.True(t, w.IsOld(w.Last()), "it lacks a change")
		require.Equal(t, 3*time.Second, waits(0), "so a page waits for the next one")
		require.False(t, w.IsOld(w.Last()))
	})
}

// noted notes the paths of calls, and refuses those that begin with one of away.
type noted struct {
	paths []string
	away  []string
}

func (n *noted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.paths = append(n.paths, r.URL.Path)
	for _, path := range n.away {
		if r.URL.Path == path {
			w.WriteHeader(http.StatusServiceUnavailable)
			break
		}
	}
	_, _ = w.Write([]byte("{}"))
}

// A look asks nothing more of who does not answer: each question may take as long as the last one.
func TestWhoIsAwayIsAskedOnce(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	looked := func(last *Picture, away ...string) (*Picture, []string) {
		api := &noted{away: away}
		w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, Pace{}, func() time.Time { return now })
		return w.look(last), api.paths
	}
	well, all := looked(&Picture{})
	require.False(t, well.EngineAway())
	require.False(t, well.ListsAway())
	require.Greater(t, len(all), 5)
	engine, asked := looked(well, noTimer)
	require.Equal(t, []string{noTimer}, asked)
	require.True(t, engine.EngineAway())
	require.True(t, engine.ListsAway())
	require.Equal(t, now, engine.Temporal)
	lists, asked := looked(well, "/v1/emergency")
	require.True(t, lists.ListsAway())
	require.False(t, lists.EngineAway())
	require.NotContains(t, asked, "/v1/policies")
	require.NotContains(t, asked, "/v1/stats")
	require.NotContains(t, asked, "/v1/timers")
	first := New(calls.Sender{}, Pace{}, time.Now).Last()
	require.True(t, first.Unseen() && first.ListsAway(), "the first look has not ended")
	require.False(t, first.EngineAway(), "that is not known")
	require.False(t, NoticesOf(first)[0].Alarming())
}

// What the first look has found is shown before it has counted, which may take seconds.
func TestTheFirstLookShowsWhatItHas(t *testing.T) {
	t.Parallel()
	counting, goOn := make(chan struct{}), make(chan struct{})
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/stats":
			close(counting)
			<-goOn
			_, _ = w.Write([]byte(`{"business_types": [{"business_type": "order-close"}]}`))
		case "/v1/policies":
			_, _ = w.Write([]byte(`{"policies": [{"business_type": "order-close"}]}`))
		default:
			_, _ = w.Write([]byte("{}"))
		}
	})
	w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, Pace{Every: time.Hour, Wait: time.Minute}, time.Now)
	whole := make(chan *Picture)
	go func() { whole <- w.Picture(t.Context()) }()
	<-counting
	early := w.Picture(t.Context())
	require.Len(t, early.Policies, 1)
	require.False(t, early.Unseen() || early.ListsAway())
	require.Nil(t, early.Counts)
	require.Equal(t, early.At, early.Listed)
	close(goOn)
	require.Len(t, (<-whole).Counts, 1)
	require.Len(t, w.Last().Counts, 1)
}

// Timers are counted now and then, the more rarely the more types there are, and after a change that
// was made here.
func TestCountsRest(t *testing.T) {
	t.Parallel()
	now, counted, types := time.Unix(1000, 0), 0, 1
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := "{}"
		if r.URL.Path == "/v1/stats" {
			counted++
			answer = `{"business_types":[{"business_type":"t0"}`
			for n := 1; n < types; n++ {
				answer += fmt.Sprintf(`,{"business_type":"t%d"}`, n)
			}
			answer += "]}"
		}
		_, _ = fmt.Fprint(w, answer)
	})
	pace := Pace{Every: time.Second, Counts: 20 * time.Second, Question: 2 * time.Second, Wait: time.Minute}
	w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, pace, func() time.Time { return now })
	after := func(d time.Duration) int { now = now.Add(d); w.Picture(t.Context()); return counted }
	require.Equal(t, 1, after(0))
	require.Equal(t, 1, after(19*time.Second))
	types = 60
	require.Equal(t, 2, after(time.Second))
	require.Equal(t, 2, after(2*(tuning.CountsCost+60)*time.Second-time.Second), "each of sixty types is a question")
	require.Equal(t, 3, after(time.Second))
	w.Changed()
	require.Equal(t, 4, after(time.Second))
}

// A type without a policy is in no count of all types. It is found by its timers, counted by itself as the first few
// are, and forgotten once it has none.
func TestTypesWithoutAPolicy(t *testing.T) {
	t.Parallel()
	names, total := []string{"ext-1", "ext-2", "ext-3", "ext-4", "ext-5", "ext-6"}, 6
	gone, listed, reported := "", 0, "{}"
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := "{}"
		switch of := r.FormValue("business_type"); {
		case r.URL.Path == "/v1/policies":
			answer = `{"policies":[{"business_type":"order-close"}]}`
		case r.URL.Path == "/v1/emergency":
			answer = `{"paused":[{"everything":true},{"business_type":"order-close"},{"business_type":"held-1"}]}`
		case r.URL.Path == "/v1/stats" && of == "":
			answer = fmt.Sprintf(`{"timers":{"scheduled":%d},"business_types":[{"business_type":"order-close","timers":{"scheduled":2}}]}`, 2+total)
		case r.URL.Path == "/v1/stats" && of != gone:
			answer = `{"timers":{"scheduled":1}}`
		case r.URL.Path == "/v1/slo":
			answer = reported
		case r.URL.Path == "/v1/timers" && r.FormValue("status") == calls.StatusScheduled && r.FormValue("due_to")+r.FormValue("recurring") == "":
			listed++
			answer = `{"timers":[{"business_type":"order-close"}`
			for _, name := range names {
				answer += fmt.Sprintf(`,{"business_type":%q}`, name)
			}
			answer += "]}"
		}
		_, _ = fmt.Fprint(w, answer)
	})
	w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, Pace{Wait: time.Minute}, time.Now)
	typesOf := func(p *Picture) (all []string) {
		for _, one := range p.Types() {
			all = append(all, one.BusinessType)
		}
		return all
	}
	first := w.Picture(t.Context())
	require.Equal(t, append([]string{"order-close"}, append(names, "held-1")...), typesOf(first), "those with a policy come first")
	require.Len(t, first.Counts, 1+tuning.CountedStrays)
	require.Equal(t, typesOf(first), first.HeldTypes(), "everything is paused")
	seen := first.SeenBy(&auth.Principal{Grants: []auth.Grant{{Role: auth.Viewer, Types: []string{"ext-2"}}}})
	require.Equal(t, []string{"ext-2"}, typesOf(seen))

	names, gone = nil, "ext-1"
	require.Equal(t, []string{"order-close", "ext-2", "ext-3", "ext-4", "ext-5", "held-1"}, typesOf(w.Picture(t.Context())), "what is counted stays")
	require.Equal(t, 2, listed)
	reported = `{"business_types":[{"business_type":"order-close"},{"business_type":"ext-7"},{"business_type":"ext-1"}]}`
	w.Picture(t.Context())
	require.Equal(t, []string{"order-close", "ext-2", "ext-3", "ext-4", "ext-5", "ext-7", "held-1"}, typesOf(w.Picture(t.Context())), "the report names what no list begins with")
	require.Equal(t, 4, listed)
	total = 0
	w.Picture(t.Context())
	require.Equal(t, 4, listed, "none is looked for where all are counted")
}

// The last delivery is the first of the list, and is shown to who sees its type.
func TestTheLastDelivery(t *testing.T) {
	t.Parallel()
	listed := `{"timers":[{"business_type":"a","business_id":"1"}]}`
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/timers" {
			_, _ = fmt.Fprint(w, listed)
			return
		}
		_, _ = fmt.Fprint(w, `{"business_type":"a","business_id":"1","delivered_at":"2026-11-26T12:00:00Z"}`)
	})
	l := &looker{api: calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, ctx: t.Context(), Picture: &Picture{}}
	l.lastDelivered()
	require.NotNil(t, l.LastDelivered)
	require.Equal(t, 12, l.LastDelivered.DeliveredAt.Hour())
	viewer := func(types string) *auth.Principal {
		return &auth.Principal{Grants: []auth.Grant{{Role: auth.Viewer, Types: []string{types}}}}
	}
	require.NotNil(t, l.SeenBy(viewer("a")).LastDelivered)
	require.Nil(t, l.SeenBy(viewer("b")).LastDelivered)

	listed, l.LastDelivered = `{"timers":[]}`, nil
	l.lastDelivered()
	require.Nil(t, l.LastDelivered)
}

// What will be late is named by its minute, and by its step where no minute alone has too many.
func TestTheMinuteThatHasTooMany(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 1, 30, 0, time.UTC)
	const fine = `{"callbacks_per_second":20,"steps":[{"at":"2026-11-26T12:03:00Z"},{"at":"2026-11-26T12:04:00Z","due":3000,"lateness":"2m29s"}]}`
	minutes := fine
	var asked, soon []string
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("from") == "" && r.FormValue("step") == "1m0s" {
			soon = append(soon, r.FormValue("to"))
			_, _ = fmt.Fprint(w, minutes)
			return
		}
		if r.FormValue("step") == tuning.LookStep.String() {
			_, _ = fmt.Fprint(w, `{"callbacks_per_second":20,"steps":[{"at":"2026-11-26T12:01:00Z","due":3001,"lateness":"2m30s"}]}`)
			return
		}
		asked = append(asked, r.FormValue("from")+" "+r.FormValue("to"))
		_, _ = fmt.Fprint(w, minutes)
	})
	ahead := func(at time.Time) Overflow {
		l := &looker{api: calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, ctx: t.Context(), Picture: &Picture{At: at}}
		l.Policies = []calls.Policy{{BusinessType: "herd"}}
		l.ahead()
		return l.Ahead["herd"]
	}
	at := func(minute int) time.Time { return time.Date(2026, 11, 26, 12, minute, 0, 0, time.UTC) }
	require.Equal(t, Overflow{At: at(4), Due: 3000, Rate: 20, Lateness: 149 * time.Second}, ahead(now))
	require.Equal(t, Overflow{At: at(4), Due: 3000, Rate: 20, Lateness: 149 * time.Second}, ahead(at(2)))
	require.Equal(t, []string{"2026-11-26T12:01:00.000Z 2026-11-26T12:06:00.000Z", "2026-11-26T12:02:00.000Z 2026-11-26T12:06:00.000Z"}, asked)
	require.Equal(t, []string{"2026-11-26T13:06:30.000Z", "2026-11-26T13:07:00.000Z"}, soon, "the next hour, minute by minute")
	for _, minutes = range []string{`{"callbacks_per_second":20}`, "nonsense"} {
		require.Equal(t, Overflow{At: at(1), Due: 3001, Rate: 20, Lateness: 150 * time.Second}, ahead(now))
	}
}

// How long the workers took to answer is known also from a look that does not ask them.
func TestWhatTheWorkersTookIsKept(t *testing.T) {
	t.Parallel()
	asked, now := 0, time.Unix(100_000, 0)
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			asked++
		}
		_, _ = fmt.Fprint(w, `{"policies":[{"business_type":"order-close"}]}`)
	})
	w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, Pace{Seldom: time.Minute, Wait: time.Minute}, func() time.Time { return now })
	took := w.Picture(t.Context()).Took[PartWorkers]
	require.Positive(t, took)
	now = now.Add(time.Second)
	require.Equal(t, took, w.Picture(t.Context()).Took[PartWorkers])
	require.Equal(t, 1, asked)
	now = now.Add(time.Minute)
	w.Picture(t.Context())
	require.Equal(t, 2, asked, "the control")
}
