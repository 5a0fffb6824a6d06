package watch

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
)

// grievous has a type in each state, and one that is in all of them.
func grievous(now time.Time) *Picture {
	pressed := calls.Policy{BusinessType: "a-pressed"}
	pressed.BackPressure = &struct {
		Until time.Time `json:"until"`
		Since time.Time `json:"since"`
	}{Until: now.Add(time.Minute)}
	every := pressed
	every.BusinessType, every.Paused = "z-every", true
	sample := func(one calls.Timer) *Sample { return &Sample{Timers: []calls.Timer{one}} }
	return &Picture{
		At: now, Answers: Answers{Temporal: now, Away: map[Part]bool{PartWorkers: true}},
		Paused: []calls.Pause{{BusinessType: "z-emergency"}, {BusinessType: "z-every"}},
		Policies: []calls.Policy{
			{BusinessType: "a-overflowing"}, {BusinessType: "a-paused", Paused: true}, pressed, {BusinessType: "a-running"},
			{BusinessType: "a-streamless"}, {BusinessType: "b-failing"}, {BusinessType: "c-overdue"}, {BusinessType: "z-emergency"}, every,
		},
		Samples: Samples{
			Overdue: map[string]*Sample{"c-overdue": sample(calls.Timer{})},
			Failed:  map[string]*Sample{"b-failing": sample(calls.Timer{}), "z-every": sample(calls.Timer{})},
			Open: map[string]*Sample{
				"a-streamless": sample(calls.Timer{WaitsFor: calls.WaitsForReceiver}), "z-every": sample(calls.Timer{WaitsFor: calls.WaitsForReceiver}),
			},
		},
		Future: Future{Ahead: map[string]Overflow{"a-overflowing": {At: now}, "z-every": {At: now}}},
	}
}

// One order holds for the strip and for the states of a type: what concerns all comes first, then an emergency, overdue
// timers, failures, what is held back, streams without a receiver, and what is still to come.
func TestOneOrderOfGravity(t *testing.T) {
	t.Parallel()
	p := grievous(time.Unix(100_000, 0))
	var said []string
	for _, one := range NoticesOf(p) {
		if one.BusinessType != "z-every" {
			said = append(said, strings.TrimSpace(string(one.State)+" "+one.BusinessType))
		}
	}
	require.Equal(t, []string{
		"workers", "emergency z-emergency", "overdue c-overdue", "failing b-failing", "paused a-paused", "held a-pressed",
		"streamless a-streamless", "overflowing a-overflowing",
	}, said)
	last := p.Policies[len(p.Policies)-1]
	require.Equal(t, []State{Emergency, Failing, Paused, Pressed, Streamless, Overflowing}, p.States(last))
	require.Equal(t, []State{Running}, p.States(calls.Policy{BusinessType: "a-running"}))
	p.Paused = append(p.Paused, calls.Pause{Everything: true})
	require.Equal(t, everything, NoticesOf(p)[0].State)
	require.Equal(t, []State{Emergency}, p.States(calls.Policy{BusinessType: "a-running"}))
}

// A type is named once in the few lines of the strip, by its gravest fact, so that it hides no other. Nothing is left
// out of the rest.
func TestATypeIsNamedOnce(t *testing.T) {
	t.Parallel()
	all := NoticesOf(grievous(time.Unix(100_000, 0)))
	require.Equal(t, 2, strings.Count(fmt.Sprint(named(all[:3])), "z-e"), "two of the gravest are emergencies")
	for most := range len(all) {
		shown, folded := Fold(all, most)
		require.LessOrEqual(t, len(shown), most)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(named(shown)))), len(shown), "each is of another type")
		require.Len(t, append(shown, folded...), len(all))
	}
	twice := []Notice{{BusinessType: "a", Key: "1"}, {BusinessType: "a", Key: "2"}, {BusinessType: "b", Key: "3"}, {Key: "4"}, {Key: "5"}}
	shown, folded := Fold(twice, 4)
	require.Equal(t, []Notice{twice[0], twice[2], twice[3], twice[4]}, shown, "facts of the installation stand for themselves")
	require.Equal(t, []Notice{twice[1]}, folded)
}

// named are the types of facts.
func named(all []Notice) (types []string) {
	for _, one := range all {
		types = append(types, one.BusinessType)
	}
	return types
}

// Attempts that fail are told where their timers end well: by the fallback, or at the next attempt. A few among many
// are not.
func TestAttemptsThatFailBeforeTheirTimersEndWell(t *testing.T) {
	t.Parallel()
	const whole = `{"at":"2026-11-26T12:00:00Z","delivered":150,"attempts":290,"retried":140}`
	const failure = `,"last_failure":{"status":503}`
	for name, c := range map[string]struct {
		steps, failure string
		paused         bool
		said           []string
	}{
		"the first link fails":     {steps: whole, failure: failure, said: []string{"strip.repeated order-close 140 290 HTTP 503"}},
		"in the present minute":    {steps: `{"attempts":9},{"attempts":4,"retried":2}`, failure: failure, said: []string{"strip.repeated order-close 2 4 HTTP 503"}},
		"the reason is not known":  {steps: whole, said: []string{"strip.repeats order-close 140 290"}},
		"one in ten":               {steps: `{"attempts":100,"retried":10}`, failure: failure, said: []string{"strip.repeated order-close 10 100 HTTP 503"}},
		"fewer":                    {steps: `{"attempts":101,"retried":10}`, failure: failure},
		"none":                     {steps: `{"attempts":100}`, failure: failure},
		"attempts are not known":   {steps: `{"delivered":150}`, failure: failure},
		"none is made any more":    {steps: whole, failure: failure, paused: true, said: []string{"strip.policy order-close - 0001-01-01 00:00:00 +0000 UTC"}},
		"there is no minute of it": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 26, 12, 1, 30, 0, time.UTC)
			api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := "{}"
				switch {
				case r.URL.Path == "/v1/policies":
					answer = fmt.Sprintf(`{"policies":[{"business_type":"order-close","paused":%t}]}`, c.paused)
				case r.URL.Path == "/v1/outcomes" && r.FormValue("step") == "1m0s":
					answer = `{"steps":[` + c.steps + `]}`
				case r.URL.Path == "/v1/timers" && r.FormValue("business_type") == "order-close" && r.FormValue("status") == calls.StatusDelivered:
					answer = `{"timers":[{"business_type":"order-close","business_id":"1"}]}`
				case strings.HasPrefix(r.URL.Path, "/v1/timers/order-close/"):
					answer = `{"business_type":"order-close","business_id":"1","delivered_at":"2026-11-26T12:01:00Z"` + c.failure + `}`
				}
				_, _ = fmt.Fprint(w, answer)
			})
			w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, Pace{Wait: time.Minute}, func() time.Time { return now })
			p := w.Picture(t.Context())
			var said []string
			for _, n := range NoticesOf(p) {
				said = append(said, strings.TrimSpace(fmt.Sprintln(append([]any{n.Key}, inEnglish(n.With)...)...)))
			}
			require.Equal(t, c.said, said)
			failing := len(c.said) > 0 && !c.paused
			require.Equal(t, failing, len(p.FailingTypes()) == 1)
			require.Equal(t, failing, slices.Contains(p.States(p.Policies[0]), Failing))
		})
	}
}
