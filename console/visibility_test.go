package console_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/api"
	apidispatches "github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/outcomes"
	"github.com/wakecall/wakecall/api/streams"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/trails"
	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/failover"
	policyrooms "github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/testrings"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// origin is where these gateways answer.
const origin = "http://localhost"

// counted is an installation that counts the questions to Temporal's visibility. Its rooms, its API, and
// its consoles are those of a gateway.
type counted struct {
	*testing.T
	temporal *enginetest.Temporal
	engine   *engine.Engine
	gates    []http.Handler
	// watched is how long pages are watched.
	watched time.Duration
}

// installed has some business types, with a timer each, and so many consoles over one engine.
func installed(t *testing.T, types, consoles int) *counted {
	c := &counted{T: t, temporal: &enginetest.Temporal{}, watched: time.Minute}
	box, err := seal.New(seal.NewKey())
	require.NoError(t, err)
	e := engine.New(engine.Config{
		Client: c.temporal, Namespace: "default", Box: box, PolicyTTL: 5 * time.Second, Limiter: &quota.Local{},
		Failover: failover.Config{Worker: "gateway", About: func() health.About { return health.About{Role: health.Gateway} }},
	})
	c.engine = e
	for range consoles {
		c.gates = append(c.gates, gateOf(t, e, box))
	}
	for n := range types {
		name := fmt.Sprintf("type-%d", n)
		c.temporal.Policy(t, policy.Policy{BusinessType: name, Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://a.example")}})
		booking := fmt.Sprintf(`{"business_type":%q,"business_id":"1","delay":"20h"}`, name)
		request, answer := httptest.NewRequest(http.MethodPost, origin+"/v1/timers", strings.NewReader(booking)), httptest.NewRecorder()
		request.Header.Set("Content-Type", "application/json")
		c.gates[0].ServeHTTP(answer, request)
		require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
	}
	registerTypes(t, c.temporal, types)
	return c
}

// registerTypes has the registry know the types, as its worker does.
func registerTypes(t *testing.T, on *enginetest.Temporal, types int) {
	_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.RegistryID}, workflows.TypeRegistry)
	require.NoError(t, err)
	registered := workflows.Registered{}
	for n := range types {
		registered[fmt.Sprintf("type-%d", n)] = 1
	}
	enginetest.Worker{On: on}.Say(t, workflows.RegistryID, workflows.MemoRegistry, registered)
}

// gateOf is the handler of a gateway, with the pace of those that are shipped.
func gateOf(t *testing.T, e *engine.Engine, box *seal.Box) http.Handler {
	logger, recent := slog.New(slog.DiscardHandler), audit.NewRecent(time.Now())
	pages, err := console.New(console.Options{
		Mode: site.On, Auth: auth.Anyone(), Box: box, Logger: logger,
		Pace:     watch.Shipped(),
		Timeouts: site.Timeouts{Page: tuning.PageWait, Part: tuning.PartWait},
	})
	require.NoError(t, err)
	return api.New(api.Options{
		Timers: apitimers.Options{
			Timers: e.Timers, Series: e.Series, Pauser: e.Timers, Failures: e.Failures,
			Attempts: e.Attempts, Histories: e.Histories, Stats: e.Stats, Lateness: e.Forecasts,
		},
		Policies: struct {
			*policyrooms.Policies
			*testrings.TestRings
		}{e.Policies, e.TestRings},
		Emergencies: e.Emergencies, Bulk: e.Bulk, Deliveries: e.Deliveries, Forecasts: e.Forecasts,
		Reports: api.Reports{
			Ledgers: e.Ledgers, Outcomes: outcomes.Options{Outcomes: e.Outcomes, Lateness: latenessOf{&shelf{}}},
			Trails: trails.Options{Records: recent, Gateway: "gateway"}, Processes: e.Processes,
		},
		Dispatches: apidispatches.Options{Dispatches: e.Dispatches, Controls: e.Dispatches, Failures: e.Dispatches},
		Streams:    streams.Options{Policy: e.Policies.Policy},
		Operations: operations.Options{Ready: func(context.Context) error { return nil }},
		Front:      front.Options{Telemetry: unmetered{}, Logger: logger, Auth: auth.Anyone(), Audit: audit.NewLog(audit.NewLines(&record{}, logger), recent)},
		EndWaits:   func() {},
		Console:    pages.Handler,
	}).Handler()
}

// tab is an open page, which takes what it is sent.
type tab struct {
	header http.Header
	sent   int
}

func (t *tab) Header() http.Header         { return t.header }
func (t *tab) WriteHeader(int)             {}
func (t *tab) Flush()                      {}
func (t *tab) Write(p []byte) (int, error) { t.sent += len(p); return len(p), nil }

// opens has so many viewers open pages, each the next of them and the next console. Close returns once all of
// them have gone.
func (c *counted) opens(viewers int, pages []string) (tabs []*tab, closeAll func()) {
	ctx, leave := context.WithCancel(c.Context())
	var open sync.WaitGroup
	for n := range viewers {
		one := &tab{header: http.Header{}}
		tabs = append(tabs, one)
		path := origin + "/console/live?" + url.Values{"page": {pages[n%len(pages)]}}.Encode()
		open.Go(func() {
			c.gates[n%len(c.gates)].ServeHTTP(one, httptest.NewRequest(http.MethodGet, path, nil).WithContext(ctx))
		})
	}
	return tabs, func() { leave(); open.Wait() }
}

// counts begins what a gateway counts by itself, watched or not.
func (c *counted) counts() (stop func()) {
	ctx, cancel := context.WithCancel(c.Context())
	var counting sync.WaitGroup
	counting.Go(func() { c.engine.Forecasts.Run(ctx) })
	counting.Go(func() { c.engine.Outcomes.Run(ctx) })
	return func() { cancel(); counting.Wait() }
}

// settled is how long pages are open before they are watched: what is read once is known by then.
const settled = 20 * time.Second

// moments are the times and numbers that differ from one question to the next.
var moments = regexp.MustCompile(`'[^']*\d[^']*'`)

// asks returns how many questions are asked while pages are watched, and what they are.
func (c *counted) asks() (n int, which string) {
	before := len(c.temporal.Calls("ListWorkflow"))
	counted := len(c.temporal.Calls("CountWorkflow"))
	<-time.After(c.watched)
	kinds := map[string]int{}
	for _, query := range c.temporal.Called("ListWorkflow")[before:] {
		kinds["list "+moments.ReplaceAllString(query, "…")]++
	}
	for _, query := range c.temporal.Called("CountWorkflow")[counted:] {
		kinds["count "+moments.ReplaceAllString(query, "…")]++
	}
	var lines []string
	for kind, times := range kinds {
		n += times
		lines = append(lines, fmt.Sprintf("%6d %s", times, kind))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(b, a) })
	return n, strings.Join(lines, "\n")
}

// asksOpen is the same with some viewers.
func (c *counted) asksOpen(viewers int, pages ...string) (n int, which string) {
	tabs, closeAll := c.opens(viewers, pages)
	<-time.After(settled)
	n, which = c.asks()
	closeAll()
	for i, one := range tabs {
		require.NotZero(c, one.sent, "%s is shown", pages[i%len(pages)])
	}
	c.Logf("%3d viewers of %v: %.2f questions a second\n%s", viewers, pages, float64(n)/c.watched.Seconds(), which)
	return n, which
}

// closed requires that nothing is asked any more, once what had begun has ended.
func (c *counted) closed() {
	<-time.After(tuning.OutcomesTimeout)
	n, which := c.asks()
	require.Zero(c, n, which)
}

// asking are the pages that ask for themselves, and alive all that are kept up to date.
var (
	asking = []string{
		"/console/", "/console/timers", "/console/timers?q=status%3Ascheduled+due%3A1h+sort%3Adue",
		"/console/types/type-0", "/console/timers/type-0/1", "/console/jobs",
	}
	alive = append([]string{
		"/console/timers?q=is%3Alate", "/console/types", "/console/forecast", "/console/health", "/console/dispatches",
		"/console/emergency", "/console/audit",
	}, asking...)
)

// mostAdded is how many questions a second open pages add to what a gateway asks unwatched. aLook is which
// share of all questions one look and one count more or less may be.
const (
	mostAdded = 2
	aLook     = 0.15
)

// Open consoles add two questions a second at most, whatever they show and however many types there are, and
// none once they are closed. A hundred of them ask as much of Temporal's visibility as one.
func TestOpenConsolesAskLittle(t *testing.T) {
	detector.SkipSweep(t)
	// Where there are many types one scene has all pages: rendering them takes its time.
	for types, pages := range map[int][]string{5: asking, 50: nil} {
		synctest.Test(t, func(t *testing.T) {
			c := installed(t, types, 1)
			stop := c.counts()
			<-time.After(settled)
			unwatched, _ := c.asks()
			most := unwatched + mostAdded*int(c.watched.Seconds())
			for _, page := range pages {
				one, which := c.asksOpen(1, page)
				require.LessOrEqual(t, one, most, "%d types, %s\n%s", types, page, which)
			}
			all, which := c.asksOpen(len(alive), alive...)
			require.LessOrEqual(t, all, most, "%d types, all pages\n%s", types, which)
			stop()
			c.closed()
		})
	}
}

// What one viewer causes is all that a hundred cause.
func TestAHundredConsolesAskAsOne(t *testing.T) {
	detector.SkipSweep(t)
	synctest.Test(t, func(t *testing.T) {
		c := installed(t, 5, 1)
		c.watched = 90 * time.Second // a count more or less matters little then
		stop := c.counts()
		c.asksOpen(1, "/console/") // the first one also begins the counts
		one, _ := c.asksOpen(1, "/console/")
		hundred, which := c.asksOpen(100, "/console/")
		require.InEpsilon(t, one, hundred, aLook, which)
		stop()
		c.closed()
	})
}

// Consoles that look each for itself are found: this is the control.
func TestConsolesThatLookEachForItselfAreFound(t *testing.T) {
	detector.SkipSweep(t)
	synctest.Test(t, func(t *testing.T) {
		c := installed(t, 5, 5)
		one, _ := c.asksOpen(1, "/console/timers")
		five, _ := c.asksOpen(5, "/console/timers")
		require.Greater(t, five, 2*one)
		require.Greater(t, five, mostAdded*int(c.watched.Seconds()))
		c.closed()
	})
}
