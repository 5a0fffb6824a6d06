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
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/tuning"
)

// listing is an API that has some lists, each as the text of its timers, the newest first. The policies that
// it has are those of types, and it notes what it was asked for.
type listing struct {
	lists map[string][]string
	types []string
	asked []string
}

func (l *listing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/policies":
		var all []string
		for _, one := range l.types {
			all = append(all, fmt.Sprintf(`{"business_type":%q,"paused":%t}`, one, strings.HasPrefix(one, "paused")))
		}
		_, _ = fmt.Fprintf(w, `{"policies":[%s]}`, strings.Join(all, ","))
	case "/v1/timers":
		list, of := r.FormValue("status"), r.FormValue("business_type")
		if r.Form.Has("recurring") {
			list = "recurring"
		}
		if r.FormValue("page_size") == "1" { // that of the last delivery
			_, _ = fmt.Fprint(w, "{}")
			return
		}
		l.asked = append(l.asked, list+" "+of)
		all := slices.Clone(l.lists[list])
		all = slices.DeleteFunc(all, func(one string) bool {
			return of != "" && !strings.Contains(one, fmt.Sprintf(`"business_type":%q`, of))
		})
		next := ""
		if len(all) > tuning.SampledTimers {
			all, next = all[:tuning.SampledTimers], "more"
		}
		_, _ = fmt.Fprintf(w, `{"timers":[%s],"next_page_token":%q}`, strings.Join(all, ","), next)
	default:
		_, _ = fmt.Fprint(w, "{}")
	}
}

// some are timers of a type with more in each.
func some(n int, businessType, more string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(`{"business_type":%q,"business_id":"%d"%s}`, businessType, i, more))
	}
	return all
}

const (
	refused  = `,"waits_for":"","last_failure":{"status":503}`
	accepted = `,"waits_for":"ack"`
	retaken  = `,"waits_for":"ack","last_failure":{"status":500}`
)

// watching looks at an API at a moment that the test moves on.
func watching(api *listing, now *time.Time) (look func(after time.Duration) []string, w *Watch) {
	return pacing(Pace{Wait: time.Minute}, api, now)
}

// pacing is watching at a pace.
func pacing(pace Pace, api *listing, now *time.Time) (look func(after time.Duration) []string, w *Watch) {
	w = New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, pace, func() time.Time { return *now })
	return func(after time.Duration) (said []string) {
		*now = now.Add(after)
		api.asked = nil
		w.last = w.look(w.Last())
		for _, n := range NoticesOf(w.last) {
			said = append(said, strings.TrimSpace(fmt.Sprintln(append([]any{n.Key}, inEnglish(n.With)...)...)))
		}
		return said
	}, w
}

// inEnglish are values of which a failure is in words.
func inEnglish(with []any) (all []any) {
	for _, value := range with {
		if failure, ok := value.(*calls.Failure); ok {
			value = failure.Short(words.Speech{Lang: words.English})
		}
		all = append(all, value)
	}
	return all
}

// A type whose timers fail is named, however many timers of others are being delivered: of types that are
// paused, of those whose receivers have accepted theirs, and of those that fail as well.
func TestATypeHidesNoOther(t *testing.T) {
	t.Parallel()
	const retried = "strip.retrying bad 5 HTTP 503"
	for name, others := range map[string][]string{
		"paused":   some(120, "paused", ""),
		"accepted": some(120, "fine", accepted),
		"failing":  some(120, "worse", refused),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(100_000, 0)
			api := &listing{types: []string{"bad", "fine", "paused", "worse"}, lists: map[string][]string{}}
			api.lists["delivering"] = slices.Concat(others, some(5, "bad", refused))
			look, _ := watching(api, &now)
			require.Eventually(t, func() bool { return slices.Contains(look(time.Second), retried) }, time.Minute, time.Microsecond, "it is looked for")
			for range 4 {
				require.Contains(t, look(time.Second), retried, "it is not forgotten")
			}
			api.lists["delivering"] = others
			require.Eventually(t, func() bool { return !slices.Contains(look(time.Second), retried) }, time.Minute, time.Microsecond, "nor kept for ever")
		})
	}
}

// Each full list hides types, and each of them is asked for, a few in a look.
func TestWhatFullListsHideIsAskedForInTurn(t *testing.T) {
	t.Parallel()
	now := time.Unix(100_000, 0)
	api := &listing{lists: map[string][]string{}, types: []string{"paused"}}
	for _, list := range []string{"failed", "delivering", "recurring", "scheduled"} {
		api.lists[list] = some(tuning.SampledTimers+1, "paused", refused)
	}
	const quiet = 10
	for n := range quiet {
		api.types = append(api.types, fmt.Sprintf("quiet%d", n))
	}
	look, w := watching(api, &now)
	asked := map[string]int{}
	const lists = 4
	for range lists * quiet / tuning.LookHidden {
		look(time.Second)
		alone := slices.DeleteFunc(slices.Clone(api.asked), func(one string) bool { return strings.HasSuffix(one, " ") })
		require.Len(t, alone, tuning.LookHidden)
		for _, one := range alone {
			asked[one]++
		}
	}
	require.Len(t, asked, lists*quiet, "every list for every type that is not held back: %v", asked)
	api.lists["failed"] = append(api.lists["failed"], some(1, "quiet7", "")...)
	require.Eventually(t, func() bool { look(time.Second); return w.last.Failed["quiet7"] != nil }, time.Minute, time.Microsecond, "its turn comes")

	for list := range api.lists {
		api.lists[list] = some(1, "quiet1", "")
	}
	look(time.Second)
	require.Len(t, api.asked, lists, "where no list is full there is no question more")
}

// What is being tried again is counted by itself, whichever timer is the newest of its type.
func TestEachTimerSpeaksForItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open []string
		said []string
	}{
		"a newer one was accepted":  {append(some(1, "mix", accepted), some(6, "mix", refused)...), []string{"strip.retrying mix 6 HTTP 503"}},
		"the newest alone fails":    {append(some(1, "mix", refused), some(7, "mix", accepted)...), []string{"strip.retrying mix 1 HTTP 503"}},
		"all were accepted at last": {some(7, "mix", retaken), nil},
		"some wait for a receiver": {
			append(some(2, "mix", refused), some(3, "mix", `,"waits_for":"receiver","last_failure":{"status":500}`)...),
			[]string{"strip.retrying mix 2 HTTP 503", "strip.receiver mix 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(100_000, 0)
			api := &listing{types: []string{"mix"}, lists: map[string][]string{"delivering": c.open}}
			look, w := watching(api, &now)
			require.Equal(t, c.said, look(0))
			require.Equal(t, c.said != nil, w.last.Failing("mix"))
		})
	}
}

// A recurring timer goes on after an occurrence that failed. It is named all the same, for a while, and once.
func TestAnOccurrenceThatFailed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 9, 0, 0, time.UTC)
	const failed = `,"last_occurrence":{"status":"failed","last_failure":{"status":503,"at":"2026-11-26T12:00:00Z"}}`
	const killed = `,"last_occurrence":{"status":"failed","due_at":"2026-11-26T12:00:00Z"}`
	const well = `,"last_occurrence":{"status":"delivered","last_failure":{"status":503,"at":"2026-11-26T12:00:00Z"}}`
	api := &listing{types: []string{"cycf", "fine", "killed"}, lists: map[string][]string{
		"recurring":  slices.Concat(some(2, "cycf", failed), some(3, "fine", well), some(1, "killed", killed)),
		"delivering": some(3, "cycf", failed),
	}}
	look, w := watching(api, &now)
	require.Equal(t, []string{"strip.recurring cycf 3 HTTP 503", "strip.recurring killed 1 -"}, look(0))
	require.Equal(t, []string{"cycf", "killed"}, w.last.FailingTypes())
	require.Equal(t, "HTTP 503", w.last.WhyFailing("cycf").Short(words.Speech{Lang: words.English}))
	require.Empty(t, look(time.Minute+1))
	require.Empty(t, w.last.FailingTypes())
}

// A type without a policy leaves nothing behind when its timers are long gone. One with a policy keeps its turn.
func TestATypeThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	now := time.Unix(100_000, 0)
	api := &listing{types: []string{"kept"}, lists: map[string][]string{"failed": slices.Concat(some(1, "gone", ""), some(1, "kept", ""))}}
	look, w := watching(api, &now)
	gone, kept := seen{"failed", "gone"}, seen{"failed", "kept"}
	look(time.Second)
	require.Contains(t, w.last.looked, gone)
	api.lists["failed"] = nil
	look(tuning.FailedWithin - time.Second)
	require.Contains(t, w.last.looked, gone)
	look(time.Second)
	require.NotContains(t, w.last.looked, gone)
	require.Contains(t, w.last.looked, kept)
}

// A type that begins to fail is named by the next look. Timers that are being delivered are read seldom only where
// these are many: each of them costs a call.
func TestFewThatAreDeliveredAreReadWithEachLook(t *testing.T) {
	t.Parallel()
	now, api := time.Unix(100_000, 0), &listing{types: []string{"bad"}, lists: map[string][]string{}}
	look, _ := pacing(Pace{Wait: time.Minute, Seldom: time.Minute}, api, &now)
	require.Empty(t, look(0))
	api.lists["delivering"] = some(3, "bad", refused)
	require.Equal(t, []string{"strip.retrying bad 3 HTTP 503"}, look(time.Second))
	require.NotContains(t, api.asked, "recurring ")
	api.lists["delivering"] = some(tuning.SampledTimers+1, "bad", refused)
	require.Equal(t, []string{"strip.retrying bad 100+ HTTP 503"}, look(time.Second))
	look(time.Second)
	require.NotContains(t, api.asked, "delivering ")
	look(time.Minute)
	require.Contains(t, api.asked, "delivering ")
}
