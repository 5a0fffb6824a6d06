package console_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/forecasts"
	"github.com/wakecall/wakecall/internal/seal"
)

// unlimited is a type whose callbacks have no limit, and secondly one whose rule rings too often to be counted far ahead.
const (
	unlimited = "unlimited"
	secondly  = "secondly"
)

// forecastOf says of every type what lies ahead on a shelf.
type forecastOf struct{ *shelf }

func (f forecastOf) Expect(timer.View) time.Duration { return 0 }

func (f forecastOf) Forecast(_ context.Context, r forecasts.Request) (forecast.Forecast, error) {
	if f.down || f.aheadless || f.nearby.Load() && r.Step >= time.Hour {
		return forecast.Forecast{}, &wire.Error{Code: wire.Unavailable, Message: "Temporal did not answer."}
	}
	answer := forecast.Forecast{BusinessType: r.BusinessType, CountedAt: cmp.Or(f.counted, r.From), Step: wire.Duration(r.Step), Overdue: f.overdue}
	if limit := 2.0; r.BusinessType != unlimited {
		answer.CallbacksPerSecond = &limit
	}
	if r.BusinessType == secondly {
		answer.UncountedFrom = r.From.Add(5 * time.Hour)
	}
	from := wire.At(r.From.Time().Truncate(time.Minute))
	for _, step := range f.ahead {
		if since := step.At.Time().Sub(from.Time()); since >= 0 && (r.To == 0 || step.At < r.To) {
			step.At = from.Add(since / r.Step * r.Step)
			answer.Steps = append(answer.Steps, step)
		}
	}
	return answer, nil
}

// stepsFrom are times to come, of which one has too much for 2 a second.
func stepsFrom(now time.Time) []forecast.Step {
	hour := now.UTC().Truncate(time.Hour)
	return []forecast.Step{
		{At: wire.At(hour.Add(time.Hour)), Due: 9000, Overflows: true, Lateness: wire.Duration(15 * time.Minute)}, {At: wire.At(hour.Add(2 * time.Hour))},
		{At: wire.At(hour.Add(5 * time.Hour)), Due: 10},
	}
}

func TestTheForecast(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	require.Contains(t, h.get("/console/forecast").body, "has a policy")
	h.shelf.rules, h.shelf.ahead = []policy.Policy{closing()}, stepsFrom(*h.now)
	page := h.get("/console/forecast").body
	require.Contains(t, page, "In 1 hour more falls due than the limit lets through. The last one is 15 min late.")
	require.Contains(t, page, "Limit 2 a second.")
	require.Equal(t, 1, strings.Count(page, `class="heat-5 late"`))
	require.Equal(t, 1, strings.Count(page, `class="heat-1"`))
	hour := h.now.UTC().Truncate(time.Hour).Add(time.Hour)
	require.Equal(t, 1, strings.Count(page, ">9000<"), "what falls due at a whole hour belongs to it, with its lateness")
	require.Contains(t, page, url.QueryEscape("due:"+hour.Format("2006-01-02T15:04:05.000Z")))
	lower := h.get("/console/forecast?type=order-close&limit=1").body
	require.Contains(t, lower, "In 1 hour more falls due than the limit lets through. The last one is 90 min late.", "9000 less 3600 wait for 5400 s")
	require.Contains(t, h.get("/console/forecast?type=order-close&limit=5").body, "the limit lets all through")
	require.Contains(t, h.get("/console/forecast?type=order-close&limit=1,200").body, "Limit 1,200 a second.")
	require.Contains(t, h.get("/console/forecast?type=order-close&limit=nonsense").body, "Limit 2 a second.")
	for _, wrong := range []string{"nonsense", "-1", "NaN", "Inf", "1,5"} {
		refused := h.get("/console/forecast?type=order-close&limit=" + wrong)
		require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode, wrong)
		require.Contains(t, refused.body, wrong+" is no number of callbacks a second. The page shows the present limit.")
		require.Contains(t, refused.body, `value="`+wrong+`" inputmode="decimal" size="6" aria-invalid="true"`)
	}
	stopped := h.get("/console/forecast?type=order-close&limit=0")
	require.Equal(t, http.StatusOK, stopped.StatusCode)
	require.Contains(t, stopped.body, "At most 9,000 fall due in one hour, and nothing is let through.")
	require.Contains(t, stopped.body, "Limit 0 a second.")
	require.Equal(t, 2, strings.Count(stopped.body, ` late"><a`), "each hour in which something falls due")
	require.NotContains(t, page, "aria-invalid")

	first := int(hour.Sub(h.now.UTC().Truncate(24*time.Hour)) / time.Hour)
	require.Contains(t, page, `data-overdue="0"`)
	require.Contains(t, page, `data-none="At most 9,000 fall due in one hour, and nothing is let through."`, "as the page says of a limit of 0")
	require.Contains(t, page, fmt.Sprintf(`data-steps="%d,3600,9000,0 %d,10800,0,0 %d,3600,10,0"`, first, first+4, first+4), "the page reckons with another limit by itself")

	h.shelf.nearby.Store(true)
	nearby := h.get("/console/forecast?type=order-close&limit=3")
	require.Equal(t, http.StatusOK, nearby.StatusCode)
	require.Contains(t, nearby.body, ">9000<", "the first day is known")
	require.Contains(t, nearby.body, "The later days are being counted.")
	require.Contains(t, nearby.body, `http-equiv="refresh"`)
	require.NotContains(t, page, "being counted")
	h.shelf.nearby.Store(false)

	overview := h.get("/console/").body
	require.Contains(t, overview, "9,000 fall due")
	require.Contains(t, overview, `fill="url(#plot-over)"`)
	require.Contains(t, overview, "order-close: 9,000 due, limit 120 a minute, the last one 15 min late.")
	h.shelf.down = true
	require.Equal(t, http.StatusServiceUnavailable, h.get("/console/forecast?type=order-close").StatusCode)
	away := h.get("/console/")
	require.Equal(t, http.StatusOK, away.StatusCode)
	require.Contains(t, away.body, "9,000 fall due", "what was known last stays")
	require.Contains(t, away.body, "Some of this cannot be read now.")
	old := h.get("/console/forecast?type=order-close&limit=5").body
	require.Contains(t, old, "Some of this cannot be read now.")
	require.Contains(t, old, `http-equiv="refresh"`, "it is not shown for a minute after Temporal answers again")
}

// A forecast without a type looks again soon: the first type may have come since the last look.
func TestAForecastOfNoType(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	none := h.get("/console/forecast").body
	require.Contains(t, none, "No business type that you may see has a policy or a timer.")
	require.Contains(t, none, `http-equiv="refresh"`)
	known := stocked(t, plan{}).get("/console/forecast").body
	require.Contains(t, known, "order-close")
	require.NotContains(t, known, `http-equiv="refresh"`, "the control")
}

// With the limit that is in force the page reckons what the API tells: beside a dispatch, with what is overdue,
// and in a minute of which most is over.
func TestWhatIfTheLimitWereThePresentOne(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	require.InDelta(t, 9.0, policy.DispatchShare(10), 1e-9, "dispatches leave timers a tenth, as the page and its script reckon")
	at, limit := wire.At(h.now.UTC().Truncate(time.Minute).Add(10*time.Minute)), 2.0
	h.shelf.rules, h.shelf.counted, h.shelf.overdue = []policy.Policy{closing()}, at.Add(55*time.Second), 300
	of := forecast.Forecast{CountedAt: h.shelf.counted, CallbacksPerSecond: &limit, Step: wire.Duration(time.Minute), Overdue: h.shelf.overdue}
	var slots []forecast.Slot
	for i, due := range []int{0, 1, 200, 30, 30, 0, 0, 0, 7} {
		slot := forecast.Slot{At: at.Add(time.Duration(i) * time.Minute), Width: time.Minute, Due: due}
		switch i {
		case 3:
			slot.Items = 1.5
		case 4:
			slot.Items = 1.9 // more than dispatches may have of a limit of 2
		}
		slots = append(slots, slot)
	}
	of.Divide(slots, at, at.Add(time.Duration(len(slots))*time.Minute))
	h.shelf.ahead = of.Steps
	page, again := h.get("/console/forecast").body, h.get("/console/forecast?type=order-close&limit=2").body
	told := regexp.MustCompile(`(?s)<p class="sentence">.*?</p>|<td.*</td>`)
	require.Contains(t, page, "The last one is", "the control: there is something to reckon")
	require.Equal(t, told.FindAllString(page, -1), told.FindAllString(again, -1))
	require.NotEqual(t, told.FindAllString(page, -1), told.FindAllString(h.get("/console/forecast?type=order-close&limit=3").body, -1))
}

// A type without a limit is told of none, and what is one is said as one.
func TestTheForecastWithoutALimit(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules, h.shelf.ahead = []policy.Policy{{BusinessType: unlimited}}, []forecast.Step{{At: wire.At(h.now.Add(2 * time.Hour)), Due: 1}}
	page := h.get("/console/forecast").body
	require.Contains(t, page, "At most 1 falls due in one hour. There is no limit.</p>")
	require.Contains(t, page, "No limit.")
	require.Contains(t, page, `data-none="At most 1 falls due in one hour, and nothing is let through."`)
	require.Contains(t, h.get("/console/forecast?limit=5").body, "At most 1 falls due in one hour, and the limit lets it through.")
	h.shelf.ahead[0].Due = 7
	require.Contains(t, h.get("/console/forecast?limit=").body, "At most 7 fall due in one hour. There is no limit.</p>")
}

// What is not counted is said beside the forecast, and beside the plots that show it.
func TestAForecastOfTooMuch(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules = []policy.Policy{closing(), {BusinessType: secondly}}
	for _, page := range []string{"/console/forecast?type=", "/console/types/"} {
		require.Regexp(t, `From <time [^>]*>[^<]+</time> on rings of recurring timers are missing`, h.get(page+secondly).body, page)
		require.NotContains(t, h.get(page+"order-close").body, "are missing", page)
	}
}

// While a type is held back, the forecast says that nothing rings before that ends, beside the counts and beside what
// would be with another limit.
func TestTheForecastOfATypeThatIsHeldBack(t *testing.T) {
	t.Parallel()
	const note = "The callbacks of the type are held back now: nothing rings before that ends."
	for name, hold := range map[string]func(*harness){
		"everything": func(h *harness) { h.shelf.paused = []policy.Emergency{{Everything: true, Author: "anna", Since: 1}} },
		"its type": func(h *harness) {
			h.shelf.paused = []policy.Emergency{{BusinessType: "order-close", Author: "anna", Since: 1}}
		},
		"its policy": func(h *harness) { h.shelf.rules[0].Paused = true },
		"":           func(*harness) {},
	} {
		h := open(t, plan{})
		h.shelf.rules, h.shelf.ahead = []policy.Policy{closing()}, stepsFrom(*h.now)
		hold(h)
		for _, page := range []string{"/console/forecast", "/console/forecast?type=order-close&limit=1"} {
			require.Equal(t, name != "", strings.Contains(h.get(page).body, note), "%s %s", name, page)
		}
	}
}

// Who pauses everything says why, and is an admin of everything.
func TestTheEmergencyPage(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	const page = "/console/emergency"
	h.signIn("anna")
	require.NotContains(t, h.get(page).body, page+"/pause")
	require.Equal(t, http.StatusForbidden, h.post(page+"/pause", url.Values{"note": {"fire"}}).StatusCode)
	h.signIn("root")
	require.Contains(t, h.get(page).body, "Nothing is paused.")
	unsaid := h.post(page+"/pause", url.Values{"note": {" "}})
	require.Equal(t, http.StatusUnprocessableEntity, unsaid.StatusCode)
	require.Contains(t, unsaid.body, "Say why")
	require.Empty(t, h.shelf.changes())
	require.Equal(t, page+"?done=pause", h.post(page+"/pause", url.Values{"note": {"fire"}}).Header.Get("Location"))
	require.Equal(t, []string{"hold  fire"}, h.shelf.changes())
	h.shelf.paused = []policy.Emergency{{Everything: true, Author: "root", Note: "fire", Since: wire.At(*h.now)}, {BusinessType: "order-close", Author: "anna", Since: wire.At(*h.now)}}
	shown := h.get(page).body
	require.Equal(t, 2, strings.Count(shown, page+"/resume"))
	require.NotContains(t, shown, page+"/pause")
	h.signIn("anna")
	require.Equal(t, 1, strings.Count(h.get(page).body, page+"/resume"), "everything is resumed by who may pause it")
	require.Equal(t, page+"?done=resume", h.post(page+"/resume", url.Values{"business_type": {"order-close"}}).Header.Get("Location"))
	require.Equal(t, http.StatusNotFound, h.post(page+"/explode", nil).StatusCode)
}

func TestTheHealthPage(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	require.Equal(t, 3, strings.Count(h.get("/console/health").body, ">answers<"))
	h.shelf.down = true
	away := h.get("/console/health").body
	require.Contains(t, away, ">does not answer<")
	require.Contains(t, away, "Searches and counts are old.")
}
