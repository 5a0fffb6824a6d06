package console_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
)

var (
	// element is an instant as pages have it, and whole is one where an element cannot stand.
	element = regexp.MustCompile(`<time datetime="[0-9T:.-]+Z" title="[0-9-]{10} [0-9:]{8} UTC">[0-9 :-]+ UTC</time>`)
	whole   = regexp.MustCompile(`(<title>|title=")\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: `)
	// zoned is an instant on the clock of a rule, which says the zone.
	zoned = regexp.MustCompile(`<small>[^<]*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z][A-Za-z/_]+</small>`)
	// forPrograms is what is no text of a page: addresses, what forms hand on, code, and words of the API in quotes.
	forPrograms = regexp.MustCompile(`(?s)<code[ >].*?</code>|<textarea.*?</textarea>|<q lang="en">.*?</q>|(?:href|value|placeholder|hx-[a-z:]+|data-(?:from|to))="[^"]*"`)
	anyInstant  = regexp.MustCompile(`\d\d:\d\d|\d{4}-\d\d-\d\d|<time`)
)

// The timers of a timed harness apart from the first one.
const (
	unpolled = "/console/timers/order-close/unpolled"
	overdue  = "/console/timers/order-close/overdue"
)

// strays are the instants of a page that are not as pages have them.
func strays(page string) (found []string) {
	for _, known := range []*regexp.Regexp{element, whole, zoned, forPrograms} {
		page = known.ReplaceAllString(page, "")
	}
	for _, at := range anyInstant.FindAllStringIndex(page, -1) {
		found = append(found, page[max(0, at[0]-80):min(len(page), at[1]+40)])
	}
	return found
}

// timed is a harness in which each page has all instants that it may have.
func timed(t *testing.T) *harness {
	t.Helper()
	h := stocked(t, plan{keys: staff, secret: seal.NewKey()})
	at := func(minutes int) wire.Instant { return wire.At(h.now.Add(time.Duration(minutes) * time.Minute)) }
	view := dailyOf(fullOf("x"))
	view.Wait = delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: at(-9), WaitsUntil: at(9), WaitsBy: "anna"}
	view.Recurrence.EndAt = at(1e6)
	waiting, late := viewOf(timer.Delivering), viewOf(timer.Scheduled)
	waiting.BusinessID, waiting.DueAt, waiting.Wait = "unpolled", 1, delivery.Wait{WaitsFor: delivery.WaitsForWorker}
	waiting.Circumstances.LastPoll = at(-5)
	late.BusinessID, late.DueAt, late.Circumstances = "overdue", at(-8), timer.Circumstances{WokenBy: at(60)}
	h.shelf.views, h.shelf.story = []timer.View{view, waiting, late}, storyOf("x")
	h.shelf.story[0].Changes = []timer.FieldChange{{Field: "due_at", From: at(3), To: at(4)}}
	rule := closing()
	rule.Paused, rule.PausedBy, rule.PausedAt = true, "cara", at(-7)
	rule.BackPressure = &policy.BackPressure{Since: at(-6), Until: at(6)}
	rule.RetiredSecrets, rule.SecretsChangedAt = []policy.RetiredSecret{{Until: at(60)}}, at(-5)
	h.shelf.rules = []policy.Policy{rule}
	h.shelf.paused = []policy.Emergency{{Everything: true, Author: "root", Since: at(-4)}, {BusinessType: "order-close", Author: "anna", Since: at(-3)}}
	h.shelf.ended = []outcomes.Minute{{At: at(-2), Counts: outcomes.Counts{Delivered: 5, Failed: 4, Expired: 3}}}
	h.shelf.ahead = append(stepsFrom(*h.now), forecast.Step{At: at(3), Due: 99_999, Overflows: true, Lateness: wire.Duration(time.Minute)})
	h.shelf.sent[0].BehindSince, h.shelf.sent[0].BehindWhy, h.shelf.sent[0].DueAt = at(-2), dispatch.ShortOfTurn, at(-20)
	h.shelf.checks = []health.Check{{Name: "canary", Status: health.OK, At: at(-1)}}
	h.shelf.running = health.Processes{Processes: []health.Process{{ID: "w", State: health.Silent, LastSeen: at(-1), About: health.About{Role: health.Worker}}}}
	h.shelf.tested = delivery.TestResult{SentAt: at(0), TLS: &delivery.TLSSeen{Version: "TLS 1.3", Until: at(1e5)}}
	h.signIn("root")
	return h
}

// visits are the pages of a harness, and what their forms show before they change something.
func (h *harness) visits() map[string]func(...string) reply {
	all := map[string]func(...string) reply{}
	show := func(path string) { all[path] = func(headers ...string) reply { return h.get(path, headers...) } }
	for name, r := range routeRules(tagOf(h.shelf.views[0])) {
		if r.form == nil && strings.HasPrefix(name, "GET ") && !strings.HasSuffix(name, "results") && !strings.HasSuffix(name, "failures") {
			show(r.path)
		}
	}
	span := h.now.Add(-time.Hour).UTC().Format(time.RFC3339) + ".." + h.now.Add(time.Hour).UTC().Format(time.RFC3339)
	for _, path := range []string{unpolled, overdue, "/console/?range=7d", "/console/?range=" + span, typePage + "?range=" + span, typePage + "?at=" + span} {
		show(path)
	}
	for path, form := range map[string]url.Values{
		timerPath + "/rule": {"etag": tagOf(h.shelf.views[0])["etag"], "rule": {`{"every":"2h"}`}}, timerPath + "/move": {"etag": {`"0-x"`}, "delay": {"5m"}},
		typePage + "/test": {"link": {"callback"}}, typePage + "/edit": {"etag": {`"1"`}, "priority": {"4"}},
	} {
		all["POST "+path] = func(headers ...string) reply { return h.post(path, form, headers...) }
	}
	return all
}

// One page is for readers in all zones. So each instant on it is an element that says UTC, and that our script
// says in the zone of the reader. Where no element can stand it is a text that the script finds.
func TestEachInstantOfAPageHasItsZone(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := timed(t)
	all := map[string]string{}
	for _, language := range []string{"zh-CN", "en"} { // the speed of a dispatch is known of the second look
		*h.now = h.now.Add(2 * time.Second)
		for name, visit := range h.visits() {
			all[name] = visit("Accept-Language", language).body
			require.Empty(t, strays(all[name]), "%s %s", name, language)
		}
	}
	for name, instants := range map[string][]string{
		"/console/": {
			"Everything is paused by root since <time ", "order-close is held back until <time ", "At <time ", "</time> the limit is too low", "<title>2", `<ol class="xs"><li><time `, `<a href="/console/timers?q=due`,
		},
		"/console/types":                     {"Since <time ", "Until <time ", "the hour from <time ", " late, at <time "},
		typePage:                             {"Since <time ", "Until <time ", "until <time ", "the limit is too low"},
		timerPath:                            {"Since <time ", "Until <time ", "→ <time "},
		unpolled:                             {"such attempts at <time "},
		overdue:                              {"wakes it by <time "},
		timerPath + "/rule":                  {", until <time "},
		"/console/forecast?type=order-close": {"As of <time ", "Days and hours are those of UTC.", `title="2`},
		"/console/dispatches/order-close/d":  {"below its rate since <time ", "Since <time "},
		"/console/audit":                     {"all since <time ", "single timers since <time "},
		"POST " + typePage + "/test":         {"Until <time "},
	} {
		for _, instant := range instants {
			require.True(t, strings.Contains(all[name], instant), "%s has not: %s", name, instant)
		}
	}
	h.shelf.down = true
	*h.now = h.now.Add(time.Hour)
	require.Empty(t, strays(h.get("/console/").body))
}

// The oracle sees an instant that is no element, says no zone, or says it in another way.
func TestAStrayInstantIsSeen(t *testing.T) {
	t.Parallel()
	for _, stray := range []string{
		`<li>Since 2026-11-28 06:54:27 UTC.</li>`, `<span>07:33: 100 due</span>`, `<time datetime="2026-11-28T06:54:27.000Z">06:54</time>`,
		`<title>06:54:27 UTC: 2 due</title>`, `<a title="06:54:27 UTC: 2">2</a>`, `<span>2026-11-28T06:54:27Z</span>`,
	} {
		require.NotEmpty(t, strays(stray), stray)
	}
	require.Empty(t, strays(`<a href="?at=06:54" title="2026-11-28 06:54:27 UTC: 2"><time datetime="2026-11-28T06:54:27.000Z" title="2026-11-28 06:54:27 UTC">06:54 UTC</time></a>`))
}
