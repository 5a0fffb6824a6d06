package forecasts

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/dispatches"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

func forecastsOn(t *testing.T, v client.Client) *Forecasts {
	t.Helper()
	k := kernel.New(v, "default", "")
	t.Cleanup(k.EndWaits)
	policies := policies.New(k, policies.Config{})
	pauses := emergencies.New(k, time.Minute)
	waits := waits.New(policies, pauses, queues.New(k, policies), nil)
	return New(k, policies, pauses, dispatches.New(k, policies, waits, delivery.Reach{}))
}

// limit gives the business type of these tests a policy, which the forecasts have read.
func limit(t *testing.T, f *Forecasts, v *enginetest.Visible, rate float64) {
	t.Helper()
	v.Limit("order", rate)
	_, err := f.policies.Policy(t.Context(), "order")
	require.NoError(t, err)
}

func ahead() Request {
	from := enginetest.MinuteIn(0)
	return Request{BusinessType: "order", From: from, To: from.Add(24 * time.Hour), Step: time.Minute}
}

func step(t *testing.T, f forecast.Forecast, at wire.Instant) forecast.Step {
	t.Helper()
	for _, step := range f.Steps {
		if step.At == at {
			return step
		}
	}
	require.Fail(t, "there is no such step")
	return forecast.Step{}
}

func TestForecastCountsWhereThereIsSomething(t *testing.T) {
	t.Parallel()
	dense, sparse := enginetest.MinuteIn(2*time.Hour), enginetest.MinuteIn(20*time.Hour)
	v := &enginetest.Visible{Due: map[wire.Instant]int{dense.Add(7 * time.Second): 900, sparse: 3, sparse.Add(time.Minute): 4, enginetest.MinuteIn(-time.Hour): 5}}
	f := forecastsOn(t, v)
	limit(t, f, v, 10)
	forecast, err := f.Forecast(t.Context(), ahead())
	require.NoError(t, err)
	require.Len(t, forecast.Steps, 24*60)
	require.Equal(t, 5, forecast.Overdue)
	require.Equal(t, 10.0, *forecast.CallbacksPerSecond)
	full := step(t, forecast, dense)
	require.Equal(t, 900, full.Due)
	require.True(t, full.Overflows)
	require.Equal(t, wire.Duration(89*time.Second), full.Lateness, "all at one second, and not spread over the minute")
	require.Equal(t, 3, step(t, forecast, sparse).Due)
	require.Equal(t, 4, step(t, forecast, sparse.Add(time.Minute)).Due)
	require.Less(t, v.Counts, 150, "empty hours are counted once")
	require.Positive(t, v.Lists, "and the few are listed")

	again := v.Counts
	_, err = f.Forecast(t.Context(), ahead())
	require.NoError(t, err)
	require.Equal(t, again, v.Counts, "it is known")

	hours := ahead()
	hours.Step = time.Hour
	forecast, err = f.Forecast(t.Context(), hours)
	require.NoError(t, err)
	total := 0
	for _, step := range forecast.Steps {
		total += step.Due
	}
	require.Equal(t, 907, total)
	require.Equal(t, again, v.Counts, "hours are sums of minutes")

	far := Request{BusinessType: "order", From: enginetest.MinuteIn(0), To: enginetest.MinuteIn(48 * time.Hour), Step: time.Hour}
	_, err = f.Forecast(t.Context(), far)
	require.NoError(t, err)
	require.Greater(t, v.Counts, again, "what is further ahead is counted when it is asked for")
}

func TestForecastExpandsRules(t *testing.T) {
	t.Parallel()
	every := wire.Duration(10 * time.Minute)
	booked, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{Every: &every}}, "b", time.Now())
	require.NoError(t, err)
	v := &enginetest.Visible{Due: map[wire.Instant]int{booked.DueAt: 1}, Recurring: []timer.Memo{booked.Memo}}
	forecast, err := forecastsOn(t, v).countAhead(t.Context(), ahead(), 0, nil)
	require.NoError(t, err)
	total := 0
	for _, slot := range forecast.slots {
		total += slot.Due
	}
	require.Equal(t, 143, total)
}

// What dispatches of the type will send is shown, and is taken from what timers have.
func TestForecastKnowsOfDispatches(t *testing.T) {
	t.Parallel()
	items, key := 540, wire.Key{BusinessType: "order", BusinessID: "reminders"}
	planned := dispatch.Memo{
		Order: dispatch.Dispatch{Key: key}, Status: dispatch.Scheduled, DueAt: enginetest.MinuteIn(2 * time.Hour), Items: &items, Plan: dispatch.Plan{PerSecond: 9},
	}
	v := &enginetest.Visible{Due: map[wire.Instant]int{enginetest.MinuteIn(2 * time.Hour): 100, enginetest.MinuteIn(4 * time.Hour): 100}, Dispatches: []dispatch.Memo{planned}}
	f := forecastsOn(t, v)
	limit(t, f, v, 10)
	forecast, err := f.Forecast(t.Context(), ahead())
	require.NoError(t, err)
	alone, beside := step(t, forecast, enginetest.MinuteIn(4*time.Hour)), step(t, forecast, enginetest.MinuteIn(2*time.Hour))
	require.False(t, alone.Overflows)
	require.Zero(t, alone.DispatchItems)
	require.True(t, beside.Overflows, "100 timers at one in a second")
	require.Equal(t, 540, beside.DispatchItems)
	require.Equal(t, wire.Duration(9*time.Second), alone.Lateness)
	require.Equal(t, wire.Duration(99*time.Second), beside.Lateness)
	booked := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: enginetest.MinuteIn(2 * time.Hour)}
	require.Equal(t, 100*time.Second, f.Expect(booked))
}

// What an emergency holds back does not ring before it is resumed: the rate is 0, and no lateness is told that has no
// end. A type without a limit is held back as well.
func TestForecastDuringAnEmergency(t *testing.T) {
	t.Parallel()
	at := enginetest.MinuteIn(2 * time.Hour)
	for name, c := range map[string]struct {
		paused []policy.Emergency
		held   bool
	}{
		"everything":   {[]policy.Emergency{{Everything: true, Author: "anna", Since: 1}}, true},
		"its type":     {[]policy.Emergency{{BusinessType: "order", Author: "anna", Since: 1}}, true},
		"another type": {[]policy.Emergency{{BusinessType: "refund", Author: "anna", Since: 1}}, false},
		"none":         {},
	} {
		for _, rate := range []float64{10, 0} {
			v := &enginetest.Visible{Due: map[wire.Instant]int{at: 1200}, Paused: c.paused}
			f := forecastsOn(t, v)
			if rate > 0 {
				limit(t, f, v, rate)
			}
			told, err := f.Forecast(t.Context(), ahead())
			require.NoError(t, err, name)
			require.Equal(t, c.held, told.CallbacksPerSecond != nil && *told.CallbacksPerSecond == 0, "%s at %g", name, rate)
			busy := step(t, told, at)
			require.Equal(t, 1200, busy.Due, name)
			require.Equal(t, rate > 0 && !c.held, busy.Overflows && busy.Lateness > 0, "%s at %g", name, rate)
			booked := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at}
			require.Equal(t, rate > 0 && !c.held, f.Expect(booked) > 0, "%s at %g", name, rate)
		}
	}
}

// What falls due at one instant is late also where its minute is not full: at steps of a
// minute, in what a booking is told, and whether it was booked here, elsewhere or follows
// from rules. What is spread over the minute is not.
func TestForecastInsideAMinute(t *testing.T) {
	t.Parallel()
	at, spread, ruled := enginetest.MinuteIn(2*time.Hour), enginetest.MinuteIn(3*time.Hour), enginetest.MinuteIn(5*time.Hour)
	v := &enginetest.Visible{Due: map[wire.Instant]int{at.Add(7 * time.Second): 26}}
	for i := range 26 {
		v.Due[spread.Add(time.Duration(2*i)*time.Second)] = 1
		booked, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: strconv.Itoa(i)}, timer.Terms{Recurrence: &recurrence.Rule{At: []wire.Instant{enginetest.MinuteIn(4 * time.Hour), ruled.Add(9 * time.Second)}}}, "b", time.Now())
		require.NoError(t, err)
		v.Recurring = append(v.Recurring, booked.Memo)
	}
	f := forecastsOn(t, v)
	limit(t, f, v, 1)
	ahead2, err := f.Forecast(t.Context(), ahead())
	require.NoError(t, err)
	require.Equal(t, forecast.Step{At: at, Due: 26, Lateness: wire.Duration(25 * time.Second)}, step(t, ahead2, at))
	require.Equal(t, forecast.Step{At: spread, Due: 26}, step(t, ahead2, spread))
	require.Equal(t, forecast.Step{At: ruled, Due: 26, Lateness: wire.Duration(25 * time.Second)}, step(t, ahead2, ruled))
	booked := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at.Add(7 * time.Second)}
	require.Equal(t, 26*time.Second, f.Expect(booked))
	booked.DueAt = at.Add(17 * time.Second)
	booked.Revision = 2
	require.Equal(t, 17*time.Second, f.Expect(booked), "moved behind them, it waits for those that are left")
	booked.DueAt = at
	require.Zero(t, f.Expect(booked))

	fresh := enginetest.MinuteIn(6 * time.Hour)
	var late time.Duration
	for range 26 {
		late = f.Expect(timer.View{Key: booked.Key, DueAt: fresh})
	}
	require.Equal(t, 25*time.Second, late, "also before it is counted")
}

// The fullest minutes are counted by the second, and of those that are equally full the next.
func TestTheMinutesThatAreRefined(t *testing.T) {
	t.Parallel()
	h := &histogram{slots: []forecast.Slot{}}
	from := enginetest.MinuteIn(0)
	for i, due := range []int{3, 2, 9, 1, 3, 0} {
		h.slots = append(h.slots, forecast.Slot{At: from.Add(time.Duration(i) * time.Minute), Width: time.Minute, Due: due})
	}
	var places []int
	for _, minute := range h.crowded(1, 3) {
		places = append(places, int(minute.At.Time().Sub(from.Time())/time.Minute))
	}
	require.Equal(t, []int{2, 0, 4}, places)
	require.Len(t, h.crowded(0.5, 60), 4, "one alone waits for nobody")
	require.Empty(t, h.crowded(0, 60), "without a limit nothing is late")
}

// A booking asks nobody: it is told what is known, and counted in.
func TestABookingWaitsForNoForecast(t *testing.T) {
	t.Parallel()
	at := enginetest.MinuteIn(time.Hour)
	v := &enginetest.Visible{Due: map[wire.Instant]int{at: 1200}, Blocked: make(chan struct{})}
	f := forecastsOn(t, v)
	booked := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at}
	require.Zero(t, f.Expect(booked), "its type has no limit")
	require.Nil(t, f.entryFor("order").filling, "so nothing is counted")
	limit(t, f, v, 10)
	require.Zero(t, f.Expect(booked), "nothing is known yet")
	of := f.entryFor("order")
	of.mu.Lock()
	filling := of.filling
	of.mu.Unlock()
	require.Zero(t, f.Expect(booked), "nor while it is counted")
	close(v.Blocked)
	<-filling
	require.Equal(t, 119*time.Second, f.Expect(booked))
	for range 100 {
		f.Expect(booked)
	}
	require.Equal(t, 129*time.Second, f.Expect(booked), "what was booked since is counted in")
	booked.DueAt = at.Add(-10 * time.Minute)
	require.Zero(t, f.Expect(booked))
	booked.DueAt = at.Add(time.Minute)
	require.Equal(t, 70*time.Second, f.Expect(booked).Round(5*time.Second), "the minute after it is late as well")
	booked.DueAt = at.Add(100 * 24 * time.Hour)
	require.Zero(t, f.Expect(booked), "too far ahead")
	limit(t, f, v, 0)
	booked.DueAt = at
	require.Zero(t, f.Expect(booked), "what is paused has no forecast")
}

// What was counted before nobody asked for a while is counted again before it is told.
func TestForecastsGrowStale(t *testing.T) {
	t.Parallel()
	at := enginetest.MinuteIn(time.Hour)
	v := &enginetest.Visible{Due: map[wire.Instant]int{at: 1200}}
	f := forecastsOn(t, v)
	limit(t, f, v, 10)
	booked := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at, Revision: 2}
	due := func() int {
		forecast, err := f.Forecast(t.Context(), ahead())
		require.NoError(t, err)
		return step(t, forecast, at).Due
	}
	aged := func(took, age time.Duration) {
		of := f.entryFor("order")
		of.mu.Lock()
		defer of.mu.Unlock()
		of.again, of.took, of.counted.at = time.Now(), took, of.counted.at.Add(-age)
	}
	require.Equal(t, 1200, due())
	require.Equal(t, 119*time.Second, f.Expect(booked))
	require.Equal(t, 1200, due(), "what was moved is not counted in: it may have been there")
	v.Due[at] = 1300
	aged(time.Second, 10*time.Second)
	require.Equal(t, 1200, due(), "as long as it is young, nobody waits for a count that takes long")
	of := f.entryFor("order")
	of.mu.Lock()
	filling := of.filling
	of.mu.Unlock()
	if filling != nil {
		<-filling
	}
	require.Equal(t, 1300, due())
	v.Due[at] = 1400
	aged(time.Millisecond, 10*time.Second)
	require.Equal(t, 1400, due(), "for a short one everybody waits")
	v.Due[at] = 1500
	aged(time.Second, time.Hour)
	require.Zero(t, f.Expect(booked), "a booking is not told what was an hour ago")
	require.Equal(t, 1500, due())
}

// Visibility lags behind: a count that begins just after a batch does not take it away again.
func TestForecastKnowsWhatWasJustBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := enginetest.MinuteIn(2 * time.Hour)
		v := &enginetest.Visible{Due: map[wire.Instant]int{}}
		f := forecastsOn(t, v)
		limit(t, f, v, 10)
		due := func() int {
			forecast, err := f.Forecast(t.Context(), ahead())
			require.NoError(t, err)
			return step(t, forecast, at).Due
		}
		book := func(n int) {
			for range n {
				f.Expect(timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at})
			}
		}
		require.Zero(t, due())
		<-time.After(tuning.ForecastFresh - tuning.VisibilityLag/2)
		book(600)
		<-time.After(tuning.VisibilityLag / 2)
		v.Due[at] = 200 // as far as visibility knows
		require.Equal(t, 600, due())
		v.Due[at] = 650 // others book as well
		<-time.After(tuning.ForecastFresh)
		require.Equal(t, 650, due())
		v.Due[at] = 0 // all were cancelled
		book(1)
		<-time.After(tuning.ForecastFresh)
		require.Zero(t, due(), "what was booked long ago is counted by visibility alone")
	})
}

// A batch into one instant is late by all of it, also before it is counted second by second.
func TestABatchIntoOneInstant(t *testing.T) {
	t.Parallel()
	at := enginetest.MinuteIn(2 * time.Hour)
	v := &enginetest.Visible{Due: map[wire.Instant]int{at.Add(30 * time.Second): 120}}
	f := forecastsOn(t, v)
	limit(t, f, v, 10)
	_, err := f.Forecast(t.Context(), ahead())
	require.NoError(t, err)
	var late time.Duration
	for range 900 {
		late = f.Expect(timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at})
	}
	require.Equal(t, 89*time.Second, late.Truncate(time.Second))
	first := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: ahead().From.Add(59 * time.Second)}
	for range 900 {
		late = f.Expect(first)
	}
	require.Greater(t, late, 29*time.Second, "so is one into the first minute, whatever of it is left")
	forecast, err := f.Forecast(t.Context(), ahead())
	require.NoError(t, err)
	require.Equal(t, 1020, step(t, forecast, at).Due)
	moved := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at.Add(10 * time.Second), Revision: 2}
	require.InDelta(t, 82, f.Expect(moved).Seconds(), 2, "ten seconds later some of them have left")
}

// keep starts what counts in the background, in a bubble of time, and returns what ends it.
func keep(t *testing.T, f *Forecasts) (leave func()) {
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		f.Run(ctx)
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-left
	}
}

// The first question for a type that has a policy is answered from memory, and what is known
// is never older than a round.
func TestForecastsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, rate := enginetest.MinuteIn(2*time.Hour), 10.0
		v := &enginetest.Visible{Due: map[wire.Instant]int{at: 1200}, Policies: []policy.Policy{{BusinessType: "order", Limits: policy.Limits{CallbacksPerSecond: &rate}}}}
		f := forecastsOn(t, v)
		limit(t, f, v, rate)
		leave := keep(t, f)
		counts := v.Counts
		require.Positive(t, counts)
		forecast, err := f.Forecast(t.Context(), ahead())
		require.NoError(t, err)
		require.Equal(t, 1200, step(t, forecast, at).Due)
		require.Equal(t, counts, v.Counts, "nobody waited for a count")

		v.Mu.Lock()
		v.Due[at] = 1300
		v.Mu.Unlock()
		<-time.After(tuning.ForecastRound)
		synctest.Wait()
		require.Greater(t, v.Counts, counts)
		require.Equal(t, 129*time.Second, f.Expect(timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at, Revision: 2}))
		leave()
	})
}

// A gateway that cannot reach Temporal goes on to try.
func TestForecastsAreKeptAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &enginetest.Visible{Err: errors.New("away"), Policies: []policy.Policy{{BusinessType: "order"}}}
		f := forecastsOn(t, v)
		limit(t, f, v, 10)
		leave := keep(t, f)
		require.Empty(t, f.types)
		v.Mu.Lock()
		v.Err = nil
		v.Mu.Unlock()
		<-time.After(tuning.ForecastRound)
		synctest.Wait()
		require.Positive(t, v.Counts)
		leave()
	})
}

func TestForecastWithoutVisibility(t *testing.T) {
	t.Parallel()
	v := &enginetest.Visible{Err: errors.New("away")}
	f := forecastsOn(t, v)
	limit(t, f, v, 10)
	_, err := f.Forecast(t.Context(), ahead())
	require.Error(t, err)
	at := enginetest.MinuteIn(time.Hour)
	require.Zero(t, f.Expect(timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.turn <- struct{}{}
	_, err = f.countAhead(ctx, ahead(), 0, nil)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A forecast is made of several counts. It has the error of each of them: a part that is missing
// would be shown as time in which nothing is due.
func TestAForecastHasTheErrorOfEachCount(t *testing.T) {
	t.Parallel()
	crowded := enginetest.MinuteIn(2 * time.Hour)
	within := regexp.MustCompile(`DueAt >= '([^']*)'`)
	begins := func(query string) (at wire.Instant) {
		if found := within.FindStringSubmatch(query); found != nil {
			require.NoError(t, at.UnmarshalText([]byte(found[1])))
		}
		return at
	}
	for name, part := range map[string]func(query string) bool{
		"what is overdue": func(query string) bool { at := begins(query); return at > 0 && at < enginetest.MinuteIn(-time.Hour) },
		"by minutes":      func(query string) bool { return begins(query) == ahead().From },
		"by seconds":      func(query string) bool { return begins(query) == crowded },
		"rules":           func(query string) bool { return strings.Contains(query, timer.KeywordRecurring) },
		"dispatches":      func(query string) bool { return strings.Contains(query, workflows.TypeDispatch) },
		"none: a control": func(string) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			met := false
			v := &enginetest.Visible{Due: map[wire.Instant]int{crowded.Add(7 * time.Second): 900}}
			v.ErrFor = func(query string) error {
				if !part(query) {
					return nil
				}
				met = true
				return serviceerror.NewUnavailable("away")
			}
			f := forecastsOn(t, v)
			limit(t, f, v, 10)
			_, err := f.Forecast(t.Context(), ahead())
			if strings.Contains(name, "control") {
				require.NoError(t, err)
				return
			}
			require.True(t, met, "there is such a count")
			require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		})
	}
}

// Whoever makes up business types fills no memory: what has neither a policy nor a timer is
// not kept.
func TestForecastsOfNoTypeAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &enginetest.Visible{}
		f := forecastsOn(t, v)
		ask := func(businessType string) {
			request := ahead()
			request.BusinessType = businessType
			_, err := f.Forecast(t.Context(), request)
			require.NoError(t, err)
			synctest.Wait()
		}
		for n := range 20 {
			ask("made-up-" + strconv.Itoa(n))
		}
		require.Empty(t, f.types)
		limit(t, f, v, 10)
		ask("order")
		require.Contains(t, f.types, "order", "it has a policy")
		v.Mu.Lock()
		v.Due = map[wire.Instant]int{enginetest.MinuteIn(time.Hour): 1}
		v.Mu.Unlock()
		ask("without-policy")
		require.Contains(t, f.types, "without-policy", "it has a timer")
	})
}

func TestForecastsForgetTypes(t *testing.T) {
	t.Parallel()
	f := forecastsOn(t, &enginetest.Visible{})
	for i := range tuning.CachedPolicies + 1 {
		f.entryFor(time.Duration(i).String())
	}
	require.Len(t, f.types, 1)
}

// A count that nobody waits for any more works out no further rule: it has the gateway's
// only turn.
func TestAForecastThatIsCalledOffStopsAtTheNextRule(t *testing.T) {
	t.Parallel()
	every := wire.Duration(10 * time.Minute)
	booked, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{Every: &every}}, "b", time.Now())
	require.NoError(t, err)
	f := forecastsOn(t, &enginetest.Visible{Recurring: []timer.Memo{booked.Memo}})
	request := ahead()
	h := &histogram{slots: []forecast.Slot{{At: request.From, Width: 24 * time.Hour}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &forecastCount{kernel: f.kernel, businessType: "order"}
	require.ErrorIs(t, c.rules(ctx, h, request.To), context.Canceled)
	require.Zero(t, h.slots[0].Due)
}

// Of a rule that rings each second too much lies ahead. The forecast says from when on it leaves rings out.
func TestRingsThatAreTooMany(t *testing.T) {
	t.Parallel()
	f := forecastsOn(t, &enginetest.Visible{})
	c := &forecastCount{kernel: f.kernel, businessType: "order"}
	from := enginetest.MinuteIn(0)
	count := func(days int, rules ...time.Duration) *histogram {
		h := &histogram{}
		v := &enginetest.Visible{}
		for i, every := range rules {
			booked, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: strconv.Itoa(i)},
				timer.Terms{Recurrence: &recurrence.Rule{Every: new(wire.Duration(every)), StartAt: from}}, "b", from.Time())
			require.NoError(t, err)
			v.Recurring = append(v.Recurring, booked.Memo)
		}
		end := from.Add(time.Duration(days) * 24 * time.Hour)
		h.slots = []forecast.Slot{{At: from, Width: end.Time().Sub(from.Time())}}
		c.kernel = forecastsOn(t, v).kernel
		require.NoError(t, c.rules(t.Context(), h, end))
		return h
	}
	day := count(1, time.Second)
	require.Zero(t, day.uncounted)
	require.Equal(t, 86_399, day.slots[0].Due, "without the next one")
	week := count(7, time.Minute, time.Second)
	require.Equal(t, tuning.ForecastOccurrencesEach+7*24*60-1, week.slots[0].Due)
	require.Equal(t, from.Add((tuning.ForecastOccurrencesEach+1)*time.Second), week.uncounted)
}

// A time without a step has nothing to be counted.
func TestNothingIsCountedOfNoTime(t *testing.T) {
	t.Parallel()
	slots, err := (&forecastCount{}).divide(t.Context(), Request{From: 1, To: 1, Step: time.Second})
	require.NoError(t, err)
	require.Empty(t, slots)
}

// A forecast begins with what waits there, however far ahead and in whatever steps: 12,000 timers at one in ten
// seconds take 33 hours.
func TestAForecastBeginsWithWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := enginetest.MinuteIn
		for _, many := range []int{12_000, 0} { // none is the control
			v := &enginetest.Visible{Due: map[wire.Instant]int{in(2 * time.Hour): many, in(20 * time.Hour): 1, in(30 * time.Hour): 1, in(34 * time.Hour): 1}}
			f := forecastsOn(t, v)
			limit(t, f, v, 0.1)
			for name, c := range map[string]struct {
				from, to, step, at time.Duration
				waiting            float64
			}{
				"what is kept":        {0, 24 * time.Hour, time.Minute, 20 * time.Hour, 12_000 - 18*360},
				"later, by seconds":   {20 * time.Hour, 20*time.Hour + time.Minute, time.Second, 20 * time.Hour, 12_000 - 18*360},
				"beyond what is kept": {1170 * time.Minute, 31 * time.Hour, 30 * time.Minute, 30 * time.Hour, 12_001 - 28*360},
				"after a gap":         {33 * time.Hour, 35 * time.Hour, time.Hour, 34 * time.Hour, 12_002 - 32*360},
			} {
				told, err := f.Forecast(t.Context(), Request{BusinessType: "order", From: in(c.from), To: in(c.to), Step: c.step})
				require.NoError(t, err, name)
				want := 0.0
				if many > 0 {
					want = c.waiting / 0.1
				}
				require.InDelta(t, want, step(t, told, in(c.at)).Lateness.D().Seconds(), 10, "%s: one timer takes ten seconds", name)
				require.Equal(t, 1, step(t, told, in(c.at)).Due, name)
			}
		}
	})
}

// behind is a visibility store with timers behind their time: three untried, two that are tried again, nine that their
// receiver has accepted and six that are paused.
type behind struct{ *enginetest.Visible }

func (b behind) CountWorkflow(
	ctx context.Context, r *workflowservice.CountWorkflowExecutionsRequest,
) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	answer, err := b.Visible.CountWorkflow(ctx, r)
	if !strings.Contains(r.GetQuery(), "DueAt >= '"+enginetest.MinuteIn(-tuning.ForecastOverdue).String()) {
		return answer, err
	}
	switch answer.Count = 20; {
	case strings.Contains(r.GetQuery(), "TimerState IS NULL"):
		answer.Count = 3
	case strings.Contains(r.GetQuery(), "TimerState = 'delivering' AND WebhookId IS NULL"):
		answer.Count = 2
	case strings.Contains(r.GetQuery(), "TimerState"):
		answer.Count = 9
	}
	return answer, err
}

// Only what has still to be called goes first.
func TestWhatIsPausedOrAcceptedDoesNotGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := forecastsOn(t, behind{&enginetest.Visible{}})
		told, err := f.Forecast(t.Context(), ahead())
		require.NoError(t, err)
		require.Equal(t, 5, told.Overdue)
	})
}

// A PUT that is repeated leaves the timer as it is, and one that waits for a worker has not made a new one. Neither is
// counted once more.
func TestAForecastCountsABookingOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, v := enginetest.MinuteIn(2*time.Hour), &enginetest.Visible{}
		f := forecastsOn(t, v)
		limit(t, f, v, 10)
		due := func() int {
			told, err := f.Forecast(t.Context(), ahead())
			require.NoError(t, err)
			return step(t, told, at).Due
		}
		require.Zero(t, due())
		booked := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, DueAt: at, Revision: 1}
		f.Expect(booked)
		repeated, waiting := booked, booked
		repeated.Unchanged, waiting.PendingChange = true, "c-1"
		for range 5 {
			f.Expect(repeated)
			f.Expect(waiting)
		}
		require.Equal(t, 1, due())
	})
}
