package console_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api"
	apidispatches "github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/emergencies"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/outcomes"
	"github.com/wakecall/wakecall/api/policies"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/trails"
	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/health"
	coreoutcomes "github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/engine/histories"
	policyrooms "github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/seal"
)

// shelf has timers in place of Temporal, and notes what it is told to change.
type shelf struct {
	mu    sync.Mutex
	views []timer.View
	story []timer.HistoryEntry
	// storyless reports whether what happened to a timer cannot be read.
	storyless bool
	paused    []policy.Emergency
	down      bool
	next      []byte
	asked     []timers.PageRequest
	changed   []string
	rules     []policy.Policy
	// gone is a policy that was deleted.
	gone *policy.Policy
	// strays are types with timers and no policy.
	strays []string
	stored []policy.Policy
	// kept are the versions whose values changes keep.
	kept []int
	sent []dispatch.View
	// unapplied reports whether no worker applies the changes of dispatches.
	unapplied bool
	// ahead is what falls due, hour by hour or step by step, of any type. nearby reports whether only minutes
	// can be counted, and aheadless whether nothing can.
	ahead     []forecast.Step
	nearby    atomic.Bool
	aheadless bool
	// counted is when that was counted; 0 for just now. overdue is how many were overdue then.
	counted wire.Instant
	overdue int
	jobs    []bulk.Job
	// ended is what ended in each minute, and late who knows how late it rang.
	ended []coreoutcomes.Minute
	late  coreoutcomes.Source
	// named are the timers that other ids find, and listless reports whether no list can be read.
	named    map[timers.Named]timer.View
	listless bool
	payload  timer.Payload
	tested   delivery.TestResult
	checks   []health.Check
	// running are the processes of the installation.
	running health.Processes
	// matching is how many timers a count finds, and unnamed how many there are of types that no list names.
	matching, unnamed int
}

func (s *shelf) find(key wire.Key) (timer.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return timer.View{}, &wire.Error{Code: wire.Unavailable, Message: "Temporal did not answer."}
	}
	for _, view := range s.views {
		if view.Key == key {
			return view, nil
		}
	}
	return timer.View{}, &wire.Error{Code: wire.NotFound, Message: "There is no such timer."}
}

func (s *shelf) change(what string, target bookings.Target) (timer.View, bookings.Effect, error) {
	view, err := s.find(target.Key)
	if err != nil {
		return view, "", err
	}
	if target.IfMatch != "" && target.IfMatch != view.Memo.Tag() {
		return view, "", &wire.Error{Code: wire.PreconditionFailed, Message: "The revision of the timer is not the one in If-Match."}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(s.changed, what+" "+target.Key.String())
	return view, bookings.Done, nil
}

func (s *shelf) requests() []timers.PageRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]timers.PageRequest{}, s.asked...)
}

func (s *shelf) changes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.changed...)
}

func (s *shelf) Add(context.Context, bookings.Request) (timer.View, bool, error) {
	return timer.View{}, false, &wire.Error{Code: wire.Internal}
}

func (s *shelf) Upsert(context.Context, bookings.Request, time.Duration) (timer.View, bookings.Effect, error) {
	return timer.View{}, "", &wire.Error{Code: wire.Internal}
}

func (s *shelf) Amend(_ context.Context, r bookings.Request, _ time.Duration) (timer.View, bookings.Effect, error) {
	what := "move"
	switch {
	case r.Terms.Callback != nil:
		what = "edit"
	case r.Terms.Recurrence != nil:
		what = "rule"
	}
	return s.change(what, bookings.Target{Key: r.Key, IfMatch: r.IfMatch})
}

func (s *shelf) Fire(_ context.Context, target bookings.Target) (timer.View, bookings.Effect, error) {
	return s.change("fire", target)
}

func (s *shelf) Cancel(_ context.Context, target bookings.Target) (timer.View, bookings.Effect, error) {
	return s.change("cancel", target)
}

// Get shows a timer with its payload, which is the same for each.
func (s *shelf) Get(_ context.Context, key wire.Key) (timer.View, error) {
	view, err := s.find(key)
	call := view
	call.ShowCall(timer.Spec{ContentType: s.payload.ContentType}, s.payload.Data, policy.Policy{})
	view.Payload, view.PayloadBytes, view.PayloadSHA256 = call.Payload, call.PayloadBytes, call.PayloadSHA256
	return view, err
}

func (s *shelf) Explained(_ context.Context, key wire.Key) (timer.View, error) { return s.find(key) }

func (s *shelf) List(_ context.Context, r timers.PageRequest) (timers.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if s.listless {
		return timers.Page{}, &wire.Error{Code: wire.Unavailable, Message: "Visibility did not answer."}
	}
	if r.Named != (timers.Named{}) {
		if view, ok := s.named[r.Named]; ok {
			return timers.Page{Timers: []timer.View{view}}, nil
		}
		return timers.Page{}, nil
	}
	page := timers.Page{Next: s.next}
	for _, view := range s.views {
		if r.Filter.Status != "" && r.Filter.Status != view.Status {
			continue
		}
		if (r.Filter.BusinessType == "" || r.Filter.BusinessType == view.BusinessType) && (r.Filter.BusinessID == "" || r.Filter.BusinessID == view.BusinessID) {
			page.Timers = append(page.Timers, view)
		}
	}
	return page, nil
}

// pauser pauses the timers of a shelf.
type pauser struct {
	apitimers.Pauser
	*shelf
}

func (s pauser) Pause(_ context.Context, target bookings.Target, pause timer.Pause) (timer.View, bookings.Effect, error) {
	return s.change(map[bool]string{true: "pause", false: "resume"}[pause.Stop], target)
}

type failures struct{ *shelf }

func (f failures) Redeliver(_ context.Context, key wire.Key, ifMatch string) (timer.View, error) {
	view, _, err := f.change("redeliver", bookings.Target{Key: key, IfMatch: ifMatch})
	return view, err
}

// seriesOf has three occurrences ahead of each recurring timer, and one behind it.
type seriesOf struct{ *shelf }

func (s seriesOf) Upcoming(_ context.Context, key wire.Key, count int) (timer.Upcoming, error) {
	view, err := s.find(key)
	if err != nil || view.Recurrence == nil {
		return timer.Upcoming{EmptyBecause: timer.EmptyFinished}, err
	}
	return timer.UpcomingOf(*view.Recurrence, wire.At(time.Now()), min(count, 3)), nil
}

func (s seriesOf) Occurrences(_ context.Context, key wire.Key, _ int, _ []byte) (timers.Occurrences, error) {
	late := int64(7)
	past := timer.Past{Occurrence: 41, DueAt: 1, Skipped: 2, Outcome: timer.Outcome{Status: timer.Delivered, LatenessMS: &late}}
	_, err := s.find(key)
	failed := timer.Past{Occurrence: 40, DueAt: 1, Outcome: timer.Outcome{Status: timer.Failed, LastFailure: &delivery.Failure{Status: 503, Class: delivery.Answered, Message: "HTTP 503"}}}
	return timers.Occurrences{Past: []timer.Past{past, failed}}, err
}

type pastOf struct{ *shelf }

func (h pastOf) List(context.Context, wire.Key, int, string) (histories.Page, error) {
	if h.down || h.storyless {
		return histories.Page{}, &wire.Error{Code: wire.Unavailable, Message: "Temporal did not answer."}
	}
	return histories.Page{Entries: h.story, Next: string(h.next)}, nil
}

type pauses struct {
	emergencies.Emergencies
	*shelf
}

func (e pauses) List(context.Context) ([]policy.Emergency, error) {
	if e.listless {
		return nil, &wire.Error{Code: wire.Unavailable, Message: "Visibility did not answer."}
	}
	return e.paused, nil
}

func (e pauses) order(stop bool, order policy.EmergencyOrder) ([]policy.Emergency, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = append(e.changed, map[bool]string{true: "hold ", false: "release "}[stop]+strings.Join(order.BusinessTypes, "+")+" "+order.Note)
	return nil, nil
}

func (e pauses) Pause(_ context.Context, order policy.EmergencyOrder) ([]policy.Emergency, error) {
	return e.order(true, order)
}

func (e pauses) Resume(_ context.Context, order policy.EmergencyOrder) (policy.Held, error) {
	_, err := e.order(false, order)
	return policy.Held{}, err
}

// rules are the policies of a shelf.
type rules struct {
	policies.Policies
	*shelf
}

func (p rules) List(context.Context) ([]policy.Policy, error) { return p.rules, nil }

func (p rules) Stored(_ context.Context, businessType string) (policy.Policy, error) {
	for _, rule := range p.rules {
		if rule.BusinessType == businessType {
			rule.Version = max(rule.Version, 1)
			return rule.WithDefaults(), nil
		}
	}
	return policy.Policy{}, &wire.Error{Code: wire.NotFound, Message: "There is no policy."}
}

func (p rules) Versions(ctx context.Context, businessType string) ([]policyrooms.Version, error) {
	stored, err := p.Stored(ctx, businessType)
	if err != nil && p.gone != nil && p.gone.BusinessType == businessType {
		return []policyrooms.Version{{Version: 1, ChangedAt: 2, ChangedBy: "cara", Deleted: true}, {Version: 1, ChangedAt: 1, ChangedBy: "otto", Policy: p.gone}}, nil
	}
	if err != nil {
		return nil, err
	}
	old := stored
	old.Priority = 5
	return []policyrooms.Version{{Version: 2, ChangedAt: 2, ChangedBy: "cara", Policy: &stored, Changes: policy.Differences(old, stored)}, {Version: 1, ChangedAt: 1, ChangedBy: "otto", Policy: &old}}, err
}

func (p rules) Put(ctx context.Context, change policyrooms.Change) (policyrooms.Result, error) {
	old, err := p.Stored(ctx, change.Policy.BusinessType)
	switch {
	case err != nil && change.MustBeNew:
		old, err = policy.Policy{}, nil
	case err != nil && change.IfVersion != 0:
		err = &wire.Error{Code: wire.PreconditionFailed, Message: "The version of the policy is not the one in If-Match."}
	case err == nil && change.MustBeNew:
		err = &wire.Error{Code: wire.PreconditionFailed, Message: "The policy exists already."}
	}
	if err == nil && change.IfVersion != 0 && change.IfVersion != old.Version {
		err = &wire.Error{Code: wire.PreconditionFailed, Message: "The version of the policy is not the one in If-Match."}
	}
	if err != nil {
		return policyrooms.Result{}, err
	}
	p.mu.Lock()
	p.kept = append(p.kept, change.KeepFrom)
	p.mu.Unlock()
	next := change.Policy
	if change.Edit != nil {
		edited, err := change.Edit(old)
		if err != nil {
			return policyrooms.Result{}, err
		}
		next = edited.Policy
	}
	next.Version = old.Version + 1
	if !change.DryRun {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed = append(p.changed, "put "+next.BusinessType)
		p.stored = append(p.stored, next)
	}
	return policyrooms.Result{Policy: next, Changes: policy.Differences(old, next.WithDefaults())}, nil
}

func (p rules) LiftBackPressure(_ context.Context, businessType string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = append(p.changed, "lift "+businessType)
	return nil
}

func (r rules) Ring(_ context.Context, businessType string, link delivery.Link) (delivery.TestResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = append(r.changed, "test "+businessType+" "+string(link))
	result := r.tested
	result.Link = link
	return result, nil
}

// counts counts 3,333 timers of each type that is asked for. Unless one is, those without a policy are in the sum only.
type counts struct{ *shelf }

func (c counts) Count(_ context.Context, businessType string) (timer.Stats, error) {
	if c.down {
		return timer.Stats{}, &wire.Error{Code: wire.Unavailable, Message: "Temporal did not answer."}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := timer.Stats{}
	if businessType == "" {
		stats.Timers.Scheduled = c.unnamed
	}
	count := func(of string, named bool) {
		if businessType != "" && businessType != of {
			return
		}
		stats.Timers.Scheduled += 3333
		if named {
			stats.BusinessTypes = append(stats.BusinessTypes, timer.TypeStats{BusinessType: of, Timers: timer.StatusCounts{Scheduled: 3333}})
		}
	}
	for _, rule := range c.rules {
		count(rule.BusinessType, true)
	}
	for _, stray := range c.strays {
		count(stray, businessType != "")
	}
	return stats, nil
}

// processesOf are the processes of a shelf.
type processesOf struct{ *shelf }

func (p processesOf) List(context.Context) (health.Processes, error) {
	if p.down {
		return health.Processes{}, &wire.Error{Code: wire.Unavailable, Message: "Temporal did not answer."}
	}
	return p.running, nil
}

type unmetered struct{}

func (unmetered) Requested(string, string, int, time.Duration) {}
func (unmetered) Handler() http.Handler                        { return http.NotFoundHandler() }

// record is a buffer that several write to.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// harness is a gateway with a console, over a shelf.
type harness struct {
	t       testing.TB
	shelf   *shelf
	url     string
	audited *record
	logged  *record
	now     *time.Time
	client  *http.Client
}

// plan is what may differ from one harness to another.
type plan struct {
	mode    site.Mode
	look    site.Look
	keys    []string // entries; none for a gateway that asks nobody
	secret  string
	proxies []netip.Prefix
	signIn  *oidc.Browser
	// every is how old what is shown of the whole may be.
	every time.Duration
	tls   bool
	// wayless asks who calls, and has no key and no provider.
	wayless bool
}

// entryOf is the entry of a key.
func entryOf(name, key, rest string) string {
	digest := sha256.Sum256([]byte(key))
	return name + ":" + hex.EncodeToString(digest[:]) + rest
}

// staff are people with different rights; each has the name as the key.
var staff = []string{
	entryOf("root", "root", ":admin"), entryOf("anna", "anna", ":operator:order-*"), entryOf("eve", "eve", ":viewer"), entryOf("otto", "otto", ":operator:invoice"),
}

func open(t testing.TB, p plan) *harness {
	t.Helper()
	began := time.Now()
	h := &harness{t: t, shelf: &shelf{}, audited: &record{}, logged: &record{}, now: &began}
	logger := slog.New(slog.NewJSONHandler(h.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	authenticator := auth.Anyone()
	if len(p.keys) > 0 || p.signIn != nil || p.wayless {
		var keys []auth.Key
		for _, entry := range p.keys {
			key, err := auth.ParseKey(entry)
			require.NoError(t, err)
			keys = append(keys, key)
		}
		authenticator = auth.New(keys)
	}
	box, err := seal.New(p.secret)
	require.NoError(t, err)
	if p.mode == "" {
		p.mode = site.On
	}
	pages, err := console.New(console.Options{
		Mode: p.mode, Look: p.look, SignIn: p.signIn, Auth: authenticator, Box: box, Proxies: p.proxies, Logger: logger, Pace: watch.Pace{Every: p.every, Wait: time.Minute}, Now: func() time.Time { return *h.now },
	})
	require.NoError(t, err)
	recent := audit.NewRecent(began)
	server := api.New(api.Options{
		Timers:      apitimers.Options{Timers: h.shelf, Pauser: pauser{shelf: h.shelf}, Series: seriesOf{h.shelf}, Failures: failures{h.shelf}, Histories: pastOf{h.shelf}, Stats: counts{h.shelf}, Reasons: h.shelf},
		Front:       front.Options{Telemetry: unmetered{}, Logger: logger, Auth: authenticator, Audit: audit.NewLog(audit.NewLines(h.audited, logger), recent), TrustedProxies: p.proxies},
		Operations:  operations.Options{Ready: func(context.Context) error { return nil }, Checks: func() []health.Check { return h.shelf.checks }},
		Emergencies: pauses{shelf: h.shelf},
		Policies:    rules{shelf: h.shelf},
		Bulk:        bulkJobs{h.shelf},
		Dispatches:  apidispatches.Options{Dispatches: dispatchList{of: h.shelf}, Controls: controls{of: h.shelf}, Failures: controls{of: h.shelf}},
		Forecasts:   forecastOf{h.shelf},
		Reports:     api.Reports{Outcomes: outcomes.Options{Outcomes: outcomesOf{h.shelf}, Lateness: latenessOf{h.shelf}}, Trails: trails.Options{Records: recent, Gateway: "gateway-1"}, Processes: processesOf{h.shelf}},
		EndWaits:    func() {},
		Console:     pages.Handler,
	})
	start := httptest.NewServer
	if p.tls {
		start = httptest.NewTLSServer
	}
	listening := start(server.Handler())
	t.Cleanup(listening.Close)
	h.url, h.client = listening.URL, listening.Client()
	h.client.Jar, err = cookiejar.New(nil)
	require.NoError(t, err)
	h.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return h
}

// reply is an answer with its body.
type reply struct {
	*http.Response
	body string
}

// misprinted is a text of a catalogue with a value that it does not take.
var misprinted = regexp.MustCompile(`%![a-z]?\(`)

func (h *harness) send(method, path string, form url.Values, headers ...string) reply {
	h.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, body)
	require.NoError(h.t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := h.client.Do(request)
	require.NoError(h.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, answer.Body.Close())
	if strings.Contains(string(text), "%!") { // the pattern is slow on long texts
		require.NotRegexp(h.t, misprinted, string(text), path)
	}
	return reply{answer, string(text)}
}

func (h *harness) get(path string, headers ...string) reply {
	h.t.Helper()
	return h.send(http.MethodGet, path, nil, headers...)
}

func (h *harness) post(path string, form url.Values, headers ...string) reply {
	h.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	return h.send(http.MethodPost, path, form, headers...)
}

// signIn signs in with a key, and signs out before.
func (h *harness) signIn(key string) {
	h.t.Helper()
	h.client.Jar, _ = cookiejar.New(nil)
	answer := h.post("/console/login", url.Values{"key": {key}})
	require.Equal(h.t, http.StatusSeeOther, answer.StatusCode, answer.body)
	require.Equal(h.t, "/console/", answer.Header.Get("Location"))
}

// session is the cookie of the session; nil without one.
func (h *harness) session() *http.Cookie {
	base, err := url.Parse(h.url)
	require.NoError(h.t, err)
	for _, cookie := range h.client.Jar.Cookies(base) {
		if strings.HasSuffix(cookie.Name, "wakecall") {
			return cookie
		}
	}
	return nil
}

// viewOf is the timer order-close/1 with what belongs to it.
func viewOf(status timer.Status) timer.View {
	return timer.View{
		Key: wire.Key{BusinessType: "order-close", BusinessID: "1"}, Status: status, DueAt: wire.At(time.Now().Add(time.Hour)), Revision: 1, WebhookID: "msg_1", Priority: 3,
		Memo: timer.Memo{Revision: 1, Booking: "b"},
	}
}

// dailyOf is a timer that rings once a day.
func dailyOf(view timer.View) timer.View {
	day := wire.Duration(24 * time.Hour)
	view.Recurrence, view.Occurrence = &recurrence.Rule{Every: &day, Timezone: "Europe/Berlin"}, 42
	return view
}

// tagOf is what the forms of a page hand on.
func tagOf(view timer.View) url.Values { return url.Values{"etag": {`"` + view.Memo.Tag() + `"`}} }
