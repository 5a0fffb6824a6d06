package console_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	engine "github.com/wakecall/wakecall/engine/outcomes"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// outcomesOf are those of a shelf, of every type that is seen.
type outcomesOf struct{ *shelf }

func (o outcomesOf) Between(_ context.Context, r engine.Request, sees func(string) bool) (answer outcomes.Outcomes, types []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.down {
		return answer, nil, &wire.Error{Code: wire.Unavailable, Message: "Temporal did not answer."}
	}
	answer = outcomes.Outcomes{BusinessType: r.BusinessType, CountedAt: r.To}
	for _, rule := range o.rules {
		if sees(rule.BusinessType) && (r.BusinessType == "" || r.BusinessType == rule.BusinessType) {
			types = append(types, rule.BusinessType)
		}
	}
	var minutes []outcomes.Minute
	if len(types) > 0 {
		minutes = o.ended
	}
	answer.Divide(minutes, r.Span, 1)
	return answer, types, nil
}

// latenessOf knows one attempt in each step, if it knows any.
type latenessOf struct{ *shelf }

func (l latenessOf) Lateness(_ context.Context, _ []string, span outcomes.Span) (known []outcomes.Lateness, source outcomes.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late == "" {
		return nil, outcomes.Unknown
	}
	late := 12.0
	for at := span.From; at < span.To; at = at.Add(span.Step) {
		known = append(known, outcomes.Lateness{At: at, Attempts: 60, P50MS: &late, P99MS: &late, WorstMS: &late})
	}
	return known, l.late
}

// The overview and the page of a type show what has been and what is to come, with its figures as
// a table, and links to exactly those timers.
func TestPlotsOfPastAndAhead(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	minute := wire.At(time.Now().Truncate(time.Minute))
	*h.now = minute.Time().Add(7 * time.Second)
	h.shelf.ended = []outcomes.Minute{{At: minute, Counts: outcomes.Counts{Delivered: 5, Failed: 312, Expired: 1}}}
	h.shelf.ahead = []forecast.Step{{At: minute.Add(5 * time.Minute), Due: 3000, Lateness: wire.Duration(90 * time.Second)}}
	h.shelf.late = outcomes.Node
	h.signIn("root")
	for _, path := range []string{"/console/", "/console/types/order-close"} {
		page := h.get(path)
		require.Equal(t, http.StatusOK, page.StatusCode)
		require.Contains(t, page.body, "318 ended, 312 of them failed", path)
		require.Contains(t, page.body, "The latest rang 12 ms late.", path)
		require.Contains(t, page.body, "3,000 fall due.", path)
		require.Contains(t, page.body, "the last one is 90 s late", path)
		require.Contains(t, page.body, "that of this node only", path)
		require.Contains(t, page.body, "ended%3A"+minute.Time().Format("2006-01-02T15")+"%3A", path)
		require.Contains(t, page.body, "?range=6h#plots", path)
		for _, other := range []string{"6h", "24h", "7d", "nonsense"} {
			require.Equal(t, http.StatusOK, h.get(path+"?range="+other).StatusCode, other)
		}
	}
	for _, path := range []string{"/console/", "/console/types/order-close"} {
		zoomed := h.get(path + "?range=" + minute.String() + ".." + minute.Add(10*time.Minute).String())
		require.Contains(t, zoomed.body, "318 ended, 312 of them failed, 3,000 fall due.", path)
		require.Contains(t, zoomed.body, `data-from="`+minute.String()+`" data-to="`+minute.Add(10*time.Minute).String()+`"`, path)
		past := h.get(path + "?range=" + minute.Add(-10*time.Minute).String() + ".." + minute.Add(-time.Minute).String())
		require.Contains(t, past.body, "0 ended, 0 of them failed, 0 fall due.", path)
	}
	require.NotContains(t, h.get("/console/?lang=zh-CN").body, "318 ended")
	h.shelf.ended = append(h.shelf.ended, outcomes.Minute{At: minute.Add(-time.Minute), Counts: outcomes.Counts{Failed: 1}})
	require.Contains(t, h.get("/console/").body, "318 ended", "as it was drawn for who looked before")
	h.shelf.late = ""
	*h.now = h.now.Add(tuning.LivePlots)
	require.Contains(t, h.get("/console/").body, "319 ended")
	h.shelf.ended = h.shelf.ended[:1]
	require.Contains(t, h.get("/console/types/order-close").body, "set WAKECALL_PROMETHEUS_URL")
	h.shelf.down = true
	require.Contains(t, h.get("/console/types/order-close?at=02:41").body, "What has been cannot be read now.", "the page stays")
	*h.now = h.now.Add(tuning.LivePlots)
	require.Contains(t, h.get("/console/types/order-close").body, "Some of this cannot be read now.", "of this page it is known how it was")

	h.shelf.down = false
	h.signIn("otto")
	require.NotContains(t, h.get("/console/").body, "312", "who may not see a type sees nothing of its past")
}

// The table of types says how the last day was, to who may see a type.
func TestTheTableSaysHowTheLastDayWas(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	minute := wire.At(h.now.Truncate(time.Minute))
	h.shelf.ended = []outcomes.Minute{{At: minute.Add(-5 * time.Minute), Counts: outcomes.Counts{Delivered: 5, Failed: 1312}}}
	h.shelf.ahead = []forecast.Step{{At: minute.Add(5 * time.Minute), Due: 3017}, {At: minute.Add(2 * time.Hour), Due: 9}}
	h.shelf.late = outcomes.Node
	h.signIn("root")
	page := h.get("/console/types").body
	require.Contains(t, page, ">1,312</a>")
	require.Contains(t, page, `class="number">3,017</td>`)
	require.Contains(t, page, `class="plot spark"`)
	require.Contains(t, page, `<span class="unseen">5 delivered, 1,312 failed, 0 expired; most failed in the hour from `)
	requirePatterns(t, page, "failed")
	require.Contains(t, page, `class="number">1.0`, "60 attempts in the last minute")
	require.Contains(t, page, "status%3Afailed&#43;ended%3A24h")
	h.signIn("otto")
	require.NotContains(t, h.get("/console/types").body, "1,312")
}

// requirePatterns checks that colour alone tells nothing: all that boxes are of but what was delivered has a
// pattern, which is on the page.
func requirePatterns(t *testing.T, page string, classes ...string) {
	t.Helper()
	for _, class := range classes {
		require.Regexp(t, `<rect [^>]*class="`+class+`" fill="url\(#plot-`+class+`\)"`, page)
	}
	require.NotRegexp(t, `<rect x="[^>]*class="[a-z]+"/>`, plain.ReplaceAllString(page, ""), "a box without a pattern")
	for _, used := range regexp.MustCompile(`url\(#([a-z-]+)\)`).FindAllStringSubmatch(page, -1) {
		require.Equal(t, 1, strings.Count(page, `<pattern id="`+used[1]+`"`), used[1])
	}
}

// plain are the boxes that need no pattern: those of what was delivered, and what is pointed at.
var plain = regexp.MustCompile(`<rect [^>]*class="(delivered|hit)"[^>]*>|<pattern.*</pattern>`)

// What the boxes of the plots are is told by their patterns too, in the pictures and in their keys.
func TestPlotsHavePatterns(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules = []policy.Policy{closing()}
	minute := wire.At(h.now.Truncate(time.Minute))
	h.shelf.ended = []outcomes.Minute{{At: minute.Add(-5 * time.Minute), Counts: outcomes.Counts{Delivered: 5, Failed: 4, Expired: 3}}}
	h.shelf.ahead = []forecast.Step{{At: minute.Add(5 * time.Minute), Due: 99_999}}
	page := h.get("/console/types/order-close").body
	requirePatterns(t, page, "failed", "expired", "due", "over")
	for _, class := range []string{"retried", "failed", "expired", "due", "over"} {
		require.Contains(t, page, `<svg width="18" height="12" class="`+class+`"><rect width="18" height="12" fill="url(#plot-`+class+`)"/>`)
	}
	require.Contains(t, page, `<h2>Lateness`)
	require.NotRegexp(t, `<th[^>]*></th>`, page, "each column has a heading")
}

// Where the time ahead cannot be read yet, the plots do not say that nothing falls due.
func TestPlotsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	h := open(t, plan{every: time.Hour})
	h.shelf.rules, h.shelf.down = []policy.Policy{closing()}, true
	require.NotContains(t, h.get("/console/").body, "being counted", "Temporal is away")

	h = open(t, plan{every: time.Hour})
	h.shelf.rules, h.shelf.aheadless = []policy.Policy{closing()}, true
	page := h.get("/console/types/order-close").body
	require.Contains(t, page, "Some of this is being counted.")
	require.Contains(t, page, `http-equiv="refresh"`)
	require.NotContains(t, page, "0 fall due")
	h.shelf.aheadless = false
	page = h.get("/console/types/order-close").body
	require.NotContains(t, page, "Some of this is being counted.", "what lacks something is not kept")
	require.Contains(t, page, "In the next 60 min, 0 fall due.", "the control")
}
