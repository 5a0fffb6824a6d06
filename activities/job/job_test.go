package job_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities/job"
	corejob "github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
)

// numbers is a kind of job for tests: it counts from 1, in pages.
type numbers struct {
	upTo, page int
	perSecond  float64
	// do is called for each number, and may be nil.
	do func(n int) error
	// listing is called before a page is read, with its first number, and may be nil.
	listing func(first int) error

	// began are the times at which the numbers were begun, in order.
	began []begun
}

type begun struct {
	n  int
	at time.Time
}

type progress struct {
	corejob.Tally
	corejob.Position
}

func (n *numbers) work() job.Work[int] {
	return job.Work[int]{
		PerSecond: n.perSecond,
		Count:     func(context.Context) (int, error) { return n.upTo, n.list(0) },
		Page: func(_ context.Context, token []byte) (page []int, next []byte, err error) {
			first, _ := strconv.Atoi(string(token))
			for number := first + 1; number <= min(first+n.page, n.upTo); number++ {
				page = append(page, number)
			}
			if first+n.page < n.upTo {
				next = []byte(strconv.Itoa(first + n.page))
			}
			return page, next, n.list(first + 1)
		},
		ID: strconv.Itoa,
		Do: func(ctx context.Context, number int) error {
			n.began = append(n.began, begun{number, time.Now()})
			if n.do == nil {
				return ctx.Err()
			}
			return errors.Join(ctx.Err(), n.do(number))
		},
	}
}

func (n *numbers) list(first int) error {
	if n.listing == nil {
		return nil
	}
	return n.listing(first)
}

func (n *numbers) Run(ctx context.Context) (corejob.Tally, error) {
	var at progress
	err := n.work().Run(ctx, &at)
	return job.End(ctx, at.Tally, err)
}

func (n *numbers) counted() (all []int) {
	for _, b := range n.began {
		all = append(all, b.n)
	}
	return all
}

// try is one try of the activity.
type try struct {
	// from is the last heartbeat of an earlier try; nil for the first.
	from *progress
	// stop is closed when the worker leaves, and job cancelled when the job is stopped.
	stop chan struct{}
	job  context.Context

	mu   sync.Mutex
	told []progress
	interceptor.WorkerInterceptorBase
	interceptor.ActivityInboundInterceptorBase
	interceptor.ActivityOutboundInterceptorBase
}

// run makes the try, and returns its counts, also after a stop.
func (y *try) run(t *testing.T, n *numbers) (counts corejob.Tally, err error) {
	t.Helper()
	return y.runs(t, n.Run)
}

func (y *try) runs(t *testing.T, activity func(context.Context) (corejob.Tally, error)) (counts corejob.Tally, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{BackgroundActivityContext: y.job, Interceptors: []interceptor.WorkerInterceptor{y}})
	env.SetWorkerStopChannel(y.stop)
	env.RegisterActivity(activity)
	if y.from != nil {
		env.SetHeartbeatDetails(*y.from)
	}
	value, err := env.ExecuteActivity(activity)
	if err == nil {
		require.NoError(t, value.Get(&counts))
	} else if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok {
		require.NoError(t, stopped.Details(&counts))
	}
	return counts, err
}

// The SDK sends heartbeats now and then; the try receives each.
func (y *try) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	y.ActivityInboundInterceptorBase.Next = next
	return y
}

func (y *try) Init(outbound interceptor.ActivityOutboundInterceptor) error {
	y.ActivityOutboundInterceptorBase.Next = outbound
	return y.ActivityInboundInterceptorBase.Next.Init(y)
}

func (y *try) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	return y.ActivityInboundInterceptorBase.Next.ExecuteActivity(ctx, in)
}

func (y *try) RecordHeartbeat(ctx context.Context, details ...any) {
	told := *details[0].(*progress)
	if told.Found != nil {
		found := *told.Found
		told.Found = &found
	}
	y.mu.Lock()
	y.told = append(y.told, told)
	y.mu.Unlock()
	y.ActivityOutboundInterceptorBase.Next.RecordHeartbeat(ctx, details...)
}

func (y *try) last() *progress { return &y.told[len(y.told)-1] }

func counts(c corejob.Tally) []int {
	found := -1
	if c.Found != nil {
		found = *c.Found
	}
	return []int{found, c.Done, c.Skipped, c.Failed}
}

func upTo(n int) (all []int) {
	for number := range n {
		all = append(all, number+1)
	}
	return all
}

// Each item's outcome is counted, and each item is dealt with once, in order.
func TestEveryItemIsCounted(t *testing.T) {
	t.Parallel()
	errs := map[int]error{
		2: &wire.Error{Code: wire.AlreadyFinished}, 3: &wire.Error{Code: wire.Overtaken}, 4: &wire.Error{Code: wire.NotFound},
		5: &wire.Error{Code: wire.Internal}, 6: errors.New("odd"),
	}
	for name, c := range map[string]struct {
		upTo, page int
		want       []int
	}{
		"none":                  {0, 3, []int{0, 0, 0, 0}},
		"one page":              {3, 3, []int{3, 1, 2, 0}},
		"a page that is full":   {6, 3, []int{6, 1, 3, 2}},
		"a page that is broken": {7, 3, []int{7, 2, 3, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &numbers{upTo: c.upTo, page: c.page, perSecond: 1e6, do: func(number int) error { return errs[number] }}
			got, err := (&try{}).run(t, n)
			require.NoError(t, err)
			require.Equal(t, c.want, counts(got))
			require.Equal(t, upTo(c.upTo), n.counted())
		})
	}
}

// The rate applies between items that were dealt with. Skipped items do not count, and there
// is no wait after the last page.
func TestTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &numbers{upTo: 7, page: 3, perSecond: 0.1, do: func(number int) error {
			if number == 3 {
				return &wire.Error{Code: wire.Overtaken}
			}
			return nil
		}}
		began, y := time.Now(), &try{}
		_, err := y.run(t, n)
		require.NoError(t, err)
		var after []time.Duration
		for _, b := range n.began {
			after = append(after, b.at.Sub(began))
		}
		const ten = 10 * time.Second
		require.Equal(t, []time.Duration{0, ten, 2 * ten, 2 * ten, 3 * ten, 4 * ten, 5 * ten}, after)
		require.Equal(t, 5*ten, time.Since(began))
		require.GreaterOrEqual(t, len(y.told), 7+5*9, "a heartbeat each second, or it counts as dead")
	})
}

// Another try continues after the last item that was dealt with, and counts on.
func TestAnotherTryGoesOn(t *testing.T) {
	t.Parallel()
	nine := 9
	before := func(change func(*progress)) *progress {
		p := &progress{corejob.Tally{Found: &nine, Done: 4, Skipped: 1}, corejob.Position{Page: []byte("3"), After: "4"}}
		change(p)
		return p
	}
	for name, c := range map[string]struct {
		from *progress
		want []int
	}{
		"on the page where it was":                 {before(func(*progress) {}), []int{5, 6, 7}},
		"behind a page":                            {before(func(p *progress) { p.After = "6" }), []int{7}},
		"at the beginning of a page":               {before(func(p *progress) { p.After = "" }), []int{4, 5, 6, 7}},
		"on a page whose item is gone, from anew":  {before(func(p *progress) { p.After = "gone" }), []int{4, 5, 6, 7}},
		"behind the last item":                     {before(func(p *progress) { p.Page, p.After = []byte("6"), "7" }), nil},
		"where nothing but the count was told yet": {&progress{Tally: corejob.Tally{Found: &nine}}, upTo(7)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &numbers{upTo: 7, page: 3, perSecond: 1e6}
			got, err := (&try{from: c.from}).run(t, n)
			require.NoError(t, err)
			require.Equal(t, c.want, n.counted())
			require.Equal(t, []int{9, c.from.Done + len(c.want), c.from.Skipped, 0}, counts(got), "it is not counted again how many there are")
		})
	}
}

// A stop waits for the item under way, and begins no other: the counts are exact.
func TestAStopIsExact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		perSecond float64
		at        int
		during    bool
	}{
		"while an item is dealt with":       {1e6, 5, true},
		"while the first is dealt with":     {1e6, 1, true},
		"at the end of a page":              {1e6, 3, true},
		"while it waits for the next item":  {0.1, 2, false},
		"while the last one is dealt with":  {1e6, 7, true},
		"before it begins, by another stop": {1e6, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				y := &try{job: ctx}
				n := &numbers{upTo: 7, page: 3, perSecond: c.perSecond, do: func(number int) error {
					if c.during && number == c.at {
						stop(temporal.NewCanceledError())
					}
					return nil
				}}
				if c.at == 0 {
					stop(temporal.NewCanceledError())
				}
				if !c.during {
					waiting := time.AfterFunc(15*time.Second, func() { stop(temporal.NewCanceledError()) })
					defer waiting.Stop()
				}
				got, err := y.run(t, n)
				require.True(t, temporal.IsCanceledError(err), "%v", err)
				require.Equal(t, upTo(c.at), n.counted())
				require.Equal(t, []int{7, c.at, 0, 0}, counts(got))
			})
		})
	}
}

// A worker that stood still for long, and goes on, begins no other item where another one has the job.
func TestAWorkerThatStoodStill(t *testing.T) {
	t.Parallel()
	lost := &wire.Error{Code: wire.NotFound}
	for name, c := range map[string]struct {
		still  time.Duration
		answer error
		begun  []int
		asked  int
	}{
		"another one has it":     {31 * time.Second, lost, upTo(4), 2},
		"it is still its own":    {31 * time.Second, nil, upTo(7), 2},
		"it stood for a moment":  {3 * time.Second, lost, upTo(7), 1},
		"at the end of the page": {31 * time.Second, lost, upTo(6), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := &numbers{upTo: 7, page: 3, perSecond: 1e6}
				n.do = func(number int) error {
					if number == min(len(c.begun), 6) {
						<-time.After(c.still)
					}
					return nil
				}
				work, asked, ended := n.work(), 0, 0
				work.Commit = func(context.Context) error {
					if asked++; asked == 1 { // the count
						return nil
					}
					return c.answer
				}
				work.EndPage = func(context.Context, []byte, []int) error { ended++; return nil }
				var at progress
				_, err := (&try{}).runs(t, func(ctx context.Context) (corejob.Tally, error) { return at.Tally, work.Run(ctx, &at) })
				require.Equal(t, len(c.begun) == n.upTo, err == nil, "%v", err)
				require.Equal(t, c.begun, n.counted())
				require.Equal(t, c.asked, asked)
				require.Equal(t, map[int]int{4: 1, 6: 1, 7: 3}[len(c.begun)], ended, "nor does it store the outcomes of a page")
			})
		})
	}
}

// A worker that stops hands the job on at once, after the item under way.
func TestTheWorkerLeaves(t *testing.T) {
	t.Parallel()
	for name, perSecond := range map[string]float64{"while an item is dealt with": 1e6, "while it waits": 0.1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				y := &try{stop: make(chan struct{})}
				n := &numbers{upTo: 7, page: 3, perSecond: perSecond, do: func(number int) error {
					if number == 4 {
						close(y.stop)
					}
					return nil
				}}
				_, err := y.run(t, n)
				var leaving *temporal.ApplicationError
				require.ErrorAs(t, err, &leaving)
				require.Equal(t, "leaving", leaving.Type())
				require.Equal(t, time.Millisecond, leaving.NextRetryDelay())
				require.Equal(t, temporal.ApplicationErrorCategoryBenign, leaving.Category(), "it is no alarm")
				require.Equal(t, upTo(4), n.counted())
				require.Equal(t, corejob.Position{Page: []byte("3"), After: "4"}, y.last().Position)

				n.do = nil
				got, err := (&try{from: y.last()}).run(t, n)
				require.NoError(t, err)
				require.Equal(t, []int{7, 7, 0, 0}, counts(got))
				require.Equal(t, upTo(7), n.counted(), "each once")
			})
		})
	}
}

// An item that cannot be dealt with for a while holds its job up, but not for ever.
func TestAnItemThatHoldsItsJobUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		down  int
		tries int
		want  []int
	}{
		"for a while": {4, 5, []int{7, 7, 0, 0}},
		"for ever":    {1000, 5, []int{7, 6, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			n := &numbers{upTo: 7, page: 3, perSecond: 1e6, do: func(number int) error {
				if number != 5 {
					return nil
				}
				if asked++; asked > c.down {
					return nil
				}
				return &wire.Error{Code: wire.Unavailable}
			}}
			var from *progress
			for tries := 1; ; tries++ {
				y := &try{from: from}
				got, err := y.run(t, n)
				if err == nil {
					require.Equal(t, c.tries, tries)
					require.Equal(t, c.want, counts(got))
					require.Zero(t, y.last().Tries)
					return
				}
				require.Equal(t, tries, y.last().Tries)
				require.Equal(t, "4", y.last().After)
				from = y.last()
			}
		})
	}
}

// An unreadable page ends a try, and Temporal makes another.
func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]int{"how many there are": 0, "the first page": 1, "another page": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			down := true
			n := &numbers{upTo: 7, page: 3, perSecond: 1e6, listing: func(asked int) error {
				if down && asked == first {
					return &wire.Error{Code: wire.Unavailable}
				}
				return nil
			}}
			y := &try{}
			_, err := y.run(t, n)
			require.Error(t, err)
			down = false
			next := &try{}
			if len(y.told) > 0 {
				next.from = y.last()
			}
			got, err := next.run(t, n)
			require.NoError(t, err)
			require.Equal(t, []int{7, 7, 0, 0}, counts(got))
			require.Equal(t, upTo(7), n.counted())
		})
	}
	t.Run("progress of another kind", func(t *testing.T) {
		t.Parallel()
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet{})
		env := suite.NewTestActivityEnvironment()
		n := &numbers{upTo: 7, page: 3, perSecond: 1e6}
		env.RegisterActivity(n.Run)
		env.SetHeartbeatDetails("text")
		_, err := env.ExecuteActivity(n.Run)
		require.Error(t, err)
		require.Empty(t, n.began)
	})
}

// A worker may be killed at any moment, a while after its last heartbeat. Every item is
// dealt with, only the items since that heartbeat twice, and nothing is counted twice.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		n := &numbers{upTo: 1 + random.IntN(20), page: 1 + random.IntN(6), perSecond: 1e6}
		var from *progress
		repeated := 0
		for kills := random.IntN(4); ; kills-- {
			begun, dies := len(n.began), random.IntN(n.upTo+2)
			n.do = func(int) error {
				if kills > 0 && len(n.began)-begun > dies {
					panic("killed") //nolint:forbidigo // a worker that dies
				}
				return nil
			}
			y := &try{from: from}
			got, err := y.run(t, n)
			if err == nil {
				require.Equal(t, []int{n.upTo, n.upTo, 0, 0}, counts(got))
				break
			}
			known := 0
			if from != nil {
				known = from.Done
			}
			if len(y.told) > 0 {
				from = &y.told[random.IntN(len(y.told))]
				known = from.Done
			}
			repeated += len(slices.Compact(slices.Sorted(slices.Values(n.counted())))) - known
		}
		all := slices.Sorted(slices.Values(n.counted()))
		require.Equal(t, upTo(n.upTo), slices.Compact(slices.Clone(all)), "none is skipped")
		require.LessOrEqual(t, len(all), n.upTo+repeated, "no more is repeated than what was not told")
	}
}

// Items go side by side, as many as the rate allows in a moment, and are recorded in the
// order of the page. A page ends when all of its items are dealt with.
func TestItemsSideBySide(t *testing.T) {
	t.Parallel()
	for perSecond, together := range map[float64]int{5: 1, 30: 3, 1000: 4} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			under, most := 0, 0
			n := &numbers{upTo: 10, page: 7, perSecond: perSecond}
			work := n.work()
			work.Width = 4
			work.Do = func(_ context.Context, number int) error {
				mu.Lock()
				under++
				most = max(most, under)
				mu.Unlock()
				<-time.After(time.Duration(11-number) * 10 * time.Millisecond) // those behind are ready first
				mu.Lock()
				under--
				mu.Unlock()
				switch number {
				case 3:
					return &wire.Error{Code: wire.PreconditionFailed}
				case 4:
					return job.ErrPending
				case 5:
					var none *numbers
					return errors.New(none.panics())
				}
				return nil
			}
			var told []string
			work.Record = func(number int, err error) { told = append(told, strconv.Itoa(number)) }
			work.EndPage = func(_ context.Context, token []byte, page []int) error {
				told = append(told, "turn "+string(token)+"/"+strconv.Itoa(len(page)))
				return nil
			}
			var at progress
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(quiet{})
			env := suite.NewTestActivityEnvironment()
			run := func(ctx context.Context) (corejob.Tally, error) { return at.Tally, work.Run(ctx, &at) }
			env.RegisterActivity(run)
			began := time.Now()
			if together == 1 { // a panic of an activity's own goroutine is for the SDK to see
				work.Do = func(context.Context, int) error { under, most = 0, 1; return nil }
			}
			_, err := env.ExecuteActivity(run)
			require.NoError(t, err)
			require.Equal(t, together, most)
			require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "turn /7", "8", "9", "10", "turn 7/3"}, told)
			if together > 1 {
				require.Equal(t, []int{10, 8, 1, 1}, counts(at.Tally))
			}
			require.GreaterOrEqual(t, time.Since(began), time.Duration(float64(10-1-2*together)/perSecond*float64(time.Second)))
		})
	}
}

func (n *numbers) panics() string { return strconv.Itoa(n.upTo) }

func TestEnd(t *testing.T) {
	t.Parallel()
	odd := errors.New("odd")
	got, err := job.End(t.Context(), 7, nil)
	require.NoError(t, err)
	require.Equal(t, 7, got)
	_, err = job.End(t.Context(), 7, odd)
	require.ErrorIs(t, err, odd)
	require.Equal(t, 7, countsIn(t, err))
	_, err = job.End(t.Context(), 7, temporal.NewApplicationErrorWithOptions("odd", "leaving", temporal.ApplicationErrorOptions{
		NonRetryable: true, NextRetryDelay: time.Second, Category: temporal.ApplicationErrorCategoryBenign,
	}))
	require.Equal(t, 7, countsIn(t, err))
	failed, _ := errors.AsType[*temporal.ApplicationError](err)
	require.Equal(t, []any{"leaving", true, time.Second, temporal.ApplicationErrorCategoryBenign},
		[]any{failed.Type(), failed.NonRetryable(), failed.NextRetryDelay(), failed.Category()}, "it is tried again as it says")
	timedOut, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = job.End(timedOut, 7, timedOut.Err())
	require.ErrorIs(t, err, context.DeadlineExceeded, "nobody stopped it")
}

// countsIn are the counts that an error carries.
func countsIn(t *testing.T, err error) (counts int) {
	t.Helper()
	failed, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok, "%v", err)
	require.NoError(t, failed.Details(&counts))
	return counts
}

// quiet drops the log of the SDK.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
