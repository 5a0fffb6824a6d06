package forecasts

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/questions"
	"github.com/wakecall/wakecall/internal/tuning"
)

// kept is the request of a count in the background.
func kept() Request {
	from := enginetest.MinuteIn(0)
	return Request{BusinessType: "order", From: from, To: from.Add(tuning.ForecastKept), Step: time.Minute}
}

// changing is a visibility store whose timers change as those of a deployment do.
type changing struct {
	*enginetest.Visible
	random *rand.Rand
}

func (c changing) any() (at wire.Instant, ok bool) {
	for at, n := range c.Due {
		if n > 0 {
			return at, true
		}
	}
	return 0, false
}

// begin adds the run of a timer.
func (c changing) begin() {
	at := enginetest.MinuteIn(0).Add(time.Duration(c.random.IntN(26*3600)) * time.Second)
	c.Due[at]++
	c.Begun = append(c.Begun, wire.At(time.Now()))
}

// end ends a timer that waited, or has its first attempt made.
func (c changing) end() {
	if at, ok := c.any(); ok {
		c.Due[at]--
	}
}

// ring makes the first attempts that are due.
func (c changing) ring() {
	for at := range c.Due {
		if at <= wire.At(time.Now()) {
			delete(c.Due, at)
		}
	}
}

// However timers are booked, moved, cancelled and rung between two counts, what is taken from the earlier
// count is what counting anew finds.
func TestARecountFindsWhatACountFinds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		every := wire.Duration(7 * time.Minute)
		ruled, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{Every: &every}}, "b", time.Now())
		require.NoError(t, err)
		world := changing{&enginetest.Visible{Due: map[wire.Instant]int{}, Recurring: []timer.Memo{ruled.Memo}}, rand.New(rand.NewPCG(seed, 0))}
		for range 300 {
			world.begin()
		}
		at, ok := world.any()
		require.True(t, ok)
		world.Due[at] = 90 // a minute that is counted by the second
		f := forecastsOn(t, world.Visible)
		var before *histogram
		taken := 0
		for range 50 {
			world.ring()
			asked := world.Counts
			next, err := f.countAhead(t.Context(), kept(), 3, before)
			require.NoError(t, err)
			if next.whole != next.at {
				require.Less(t, world.Counts-asked, 8, "little is asked")
				taken++
			}
			anew, err := f.countAhead(t.Context(), kept(), 3, nil)
			require.NoError(t, err)
			require.Equal(t, anew.overdue, next.overdue)
			require.Equal(t, anew.slots[:len(next.slots)], next.slots)
			before = next
			<-time.After(time.Duration(world.random.IntN(90)) * time.Second)
			switch world.random.IntN(8) {
			case 0:
				world.begin()
			case 1:
				world.end()
			case 2: // moved: a run ends and another one begins
				world.end()
				world.begin()
			}
		}
		// How many there are of each kind depends on the seed.
		require.Positive(t, taken, "some take counts over")
		require.Less(t, taken, 49, "and some do not, beside the first")
	})
}

// The control: what no run began for, and no count shows, is not seen until all is counted anew.
func TestWhatARecountCannotSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := enginetest.MinuteIn(2*time.Hour), enginetest.MinuteIn(3*time.Hour)
		v := &enginetest.Visible{Due: map[wire.Instant]int{from: 7}}
		f := forecastsOn(t, v)
		before, err := f.countAhead(t.Context(), kept(), 0, nil)
		require.NoError(t, err)
		v.Due = map[wire.Instant]int{to: 7}
		next, err := f.countAhead(t.Context(), kept(), 0, before)
		require.NoError(t, err)
		require.Equal(t, []int{7, 0}, []int{next.within(from), next.within(to)})

		v.Begun = []wire.Instant{wire.At(time.Now())}
		next, err = f.countAhead(t.Context(), kept(), 0, before)
		require.NoError(t, err)
		require.Equal(t, []int{0, 7}, []int{next.within(from), next.within(to)}, "runs of a move have begun")

		v.Due, v.Begun = map[wire.Instant]int{from: 7}, nil
		<-time.After(tuning.ForecastWhole)
		next, err = f.countAhead(t.Context(), kept(), 0, next)
		require.NoError(t, err)
		require.Equal(t, []int{7, 0}, []int{next.within(from), next.within(to)}, "once in a while all is counted")
	})
}

// What was booked here and is not shown yet is in no count to take over: it may be cancelled meanwhile.
func TestARecountTakesNothingFromBookings(t *testing.T) {
	t.Parallel()
	at := enginetest.MinuteIn(time.Hour)
	f := forecastsOn(t, &enginetest.Visible{})
	before, err := f.countAhead(t.Context(), kept(), 0, nil)
	require.NoError(t, err)
	require.True(t, before.carries(kept().From))
	before.book(at)
	require.False(t, before.carries(kept().From))
	next, err := f.countAhead(t.Context(), kept(), 0, before)
	require.NoError(t, err)
	require.Zero(t, next.within(at))
}

// Open pages ask for no count: the rounds serve them. A user who asks gets a fresh one.
func TestOpenPagesAskForNoCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := enginetest.MinuteIn(2 * time.Hour)
		v := &enginetest.Visible{Due: map[wire.Instant]int{at: 12}}
		f := forecastsOn(t, v)
		limit(t, f, v, 10)
		page := questions.Background(t.Context())
		asked := func(pageAsks bool) (due int) {
			ctx := t.Context()
			if pageAsks {
				ctx = page
			}
			forecast, err := f.Forecast(ctx, ahead())
			require.NoError(t, err)
			synctest.Wait()
			return step(t, forecast, at).Due
		}
		require.Equal(t, 12, asked(true), "nothing was known")
		counts := v.Counts
		v.Due[at] = 13
		<-time.After(tuning.ForecastFresh)
		require.Equal(t, 12, asked(true))
		require.Equal(t, counts, v.Counts)
		require.Equal(t, 13, asked(false), "a user waits for a short count")
		v.Due[at] = 14
		<-time.After(tuning.ForecastStale)
		require.Equal(t, 14, asked(true), "nor is a page shown what is old")
	})
}

// As many timers as a page has are not taken for all: Temporal names a next page wherever one is full.
func TestATimeWithAFullPage(t *testing.T) {
	t.Parallel()
	at := enginetest.MinuteIn(2 * time.Hour)
	for _, n := range []int{tuning.ForecastListed - 1, tuning.ForecastListed, tuning.ForecastListed + 1} {
		counted, err := forecastsOn(t, &enginetest.Visible{Due: map[wire.Instant]int{at: n}}).countAhead(t.Context(), ahead(), 0, nil)
		require.NoError(t, err)
		require.Equal(t, n, counted.within(at))
	}
}

// A day of 5,000 timers is listed by a handful of questions, and rounds rest for each.
func TestACountAsksLittle(t *testing.T) {
	t.Parallel()
	v := &enginetest.Visible{Due: map[wire.Instant]int{}}
	for n := range 5000 {
		v.Due[ahead().From.Add(time.Duration(n)*17*time.Second)]++
	}
	f := forecastsOn(t, v)
	counted, err := f.countAhead(t.Context(), ahead(), 0, nil)
	require.NoError(t, err)
	due := 0
	for _, slot := range counted.slots {
		due += slot.Due
	}
	require.Equal(t, 5000, due)
	require.LessOrEqual(t, v.Counts+v.Lists, 20)
	require.Equal(t, v.Counts+v.Lists+2, counted.questions, "and those for rules and dispatches")
}

// A recurring timer may end while its next ring is near. No other count shows that, and the rings that would have
// followed are gone.
func TestARecountMissesNoRuleThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		every, later := wire.Duration(time.Minute), enginetest.MinuteIn(2*time.Hour)
		ruled, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{Every: &every}}, "b", time.Now())
		require.NoError(t, err)
		v := &enginetest.Visible{Due: map[wire.Instant]int{ruled.DueAt: 1}, Recurring: []timer.Memo{ruled.Memo}}
		f := forecastsOn(t, v)
		before, err := f.countAhead(t.Context(), kept(), 0, nil)
		require.NoError(t, err)
		<-time.After(time.Second)
		next, err := f.countAhead(t.Context(), kept(), 0, before)
		require.NoError(t, err)
		require.Equal(t, before.whole, next.whole, "the control: while it lasts, its rings are taken over")
		require.Equal(t, 1, next.within(later))

		v.Due, v.Recurring = nil, nil
		next, err = f.countAhead(t.Context(), kept(), 0, next)
		require.NoError(t, err)
		require.Zero(t, next.within(later))
	})
}
