package activities_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// bulks are timers, listed size at a time, and the pages that a job has stored.
type bulks struct {
	timers, size int
	// moving is the number of further timers that begin another run while they are listed.
	moving int
	// errs are the errors of some of them, by their number.
	errs map[int]error
	// filtered reports whether Find leaves out what the job has changed.
	filtered bool
	// dies is called before each call of the store, and may be nil.
	dies func() bool
	// by is the present try. replaced reports whether another one has its place.
	by       *bulkTry
	replaced bool

	mu    sync.Mutex
	pages map[int]job.Page
	// adding is called as a page is added; it may be nil.
	adding  func()
	counted map[int]job.Page // of another job, a dry run
	effects map[int]int
	closed  int
}

var errKilled = errors.New("killed")

func (b *bulks) alive() error {
	if b.dies != nil && b.dies() {
		return errKilled
	}
	return nil
}

func (b *bulks) Find(_ context.Context, _ job.Bulk, token []byte) (items []job.Item, next []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from, _ := strconv.Atoi(string(token))
	for n := from; n < min(from+b.size, b.timers); n++ {
		if n%7 == 6 || b.filtered && b.effects[n] > 0 { // an index that is not exact
			continue
		}
		items = append(items, job.Item{Key: wire.Key{BusinessType: "x", BusinessID: strconv.Itoa(n)}, RunID: "run-" + strconv.Itoa(n)})
	}
	if from+b.size < b.timers {
		next = []byte(strconv.Itoa(from + b.size))
	}
	return items, next, b.alive()
}

// FindMoving lists one that Find lists too, and the moving ones.
func (b *bulks) FindMoving(_ context.Context, _ job.Bulk, since wire.Instant, token []byte) (items []job.Item, next []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since == 0 || b.moving == 0 {
		return nil, nil, b.alive()
	}
	n, _ := strconv.Atoi(string(token))
	for _, n := range []int{0, b.timers + n} {
		items = append(items, job.Item{Key: wire.Key{BusinessType: "x", BusinessID: strconv.Itoa(n)}, RunID: "moved-" + strconv.Itoa(n)})
	}
	if n++; n < b.moving {
		next = []byte(strconv.Itoa(n))
	}
	return items, next, b.alive()
}

func (b *bulks) WritePage(_ context.Context, _ string, number int, page job.Page) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.alive(); err != nil {
		return err
	}
	if b.adding != nil {
		b.adding()
	}
	if _, exists := b.pages[number]; exists && page.New {
		return &wire.Error{Code: wire.AlreadyExists}
	}
	b.pages[number] = job.Page{Items: page.Items, Outcomes: append([]job.Outcome(nil), page.Outcomes...)}
	return nil
}

func (b *bulks) ReadPage(_ context.Context, id string, number int) (job.Page, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id == bulkOrder.ID {
		return b.pages[number], b.alive()
	}
	page, ok := b.counted[number]
	if !ok {
		return page, &wire.Error{Code: wire.NotFound}
	}
	return page, b.alive()
}

func (b *bulks) LastHeartbeat(context.Context, string, string) (jsontext.Value, error) {
	return nil, nil
}

func (b *bulks) Record(_ context.Context, _ []byte, progress any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.alive(); err != nil {
		return err
	}
	if b.replaced {
		return &wire.Error{Code: wire.NotFound}
	}
	b.by.known = len(b.by.told)
	b.by.tell(progress.(job.BulkProgress))
	return nil
}

func (b *bulks) Repeat(context.Context, job.Bulk) error { return nil }

func (b *bulks) ClosePages(_ context.Context, _ string, pages int, beat func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	beat()
	b.closed = pages
	return b.alive()
}

// Do has an effect once, as the engine's has.
func (b *bulks) Do(_ context.Context, _ job.Bulk, item job.Item) (pending bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, _ := strconv.Atoi(item.BusinessID)
	if err := b.errs[n]; err != nil {
		return false, err
	}
	b.effects[n]++
	return n == 1, nil
}

// bulkTry is one try of the activity, with each of its heartbeats. Temporal knows one of those from known
// on, the last that was stored at once.
type bulkTry struct {
	from  *job.BulkProgress
	stop  chan struct{}
	job   context.Context
	told  []job.BulkProgress
	known int
	interceptor.WorkerInterceptorBase
	interceptor.ActivityInboundInterceptorBase
	interceptor.ActivityOutboundInterceptorBase
}

func (y *bulkTry) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	y.ActivityInboundInterceptorBase.Next = next
	return y
}

func (y *bulkTry) Init(outbound interceptor.ActivityOutboundInterceptor) error {
	y.ActivityOutboundInterceptorBase.Next = outbound
	return y.ActivityInboundInterceptorBase.Next.Init(y)
}

func (y *bulkTry) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	return y.ActivityInboundInterceptorBase.Next.ExecuteActivity(ctx, in)
}

func (y *bulkTry) RecordHeartbeat(_ context.Context, details ...any) {
	y.tell(*details[0].(*job.BulkProgress))
}

func (y *bulkTry) tell(told job.BulkProgress) {
	if told.Found != nil {
		found := *told.Found
		told.Found = &found
	}
	told.Outcomes = append([]job.Outcome(nil), told.Outcomes...)
	y.told = append(y.told, told)
}

func (y *bulkTry) run(t *testing.T, store *bulks, order job.Bulk) (got job.BulkProgress, err error) {
	t.Helper()
	controller := &activities.Controller{Bulks: store, Runs: store}
	store.by = y
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{BackgroundActivityContext: y.job, Interceptors: []interceptor.WorkerInterceptor{y}})
	env.SetWorkerStopChannel(y.stop)
	env.RegisterActivity(controller.Bulk)
	if y.from != nil {
		env.SetHeartbeatDetails(*y.from)
	}
	value, err := env.ExecuteActivity(controller.Bulk, order)
	if err == nil {
		require.NoError(t, value.Get(&got))
	} else if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok {
		require.NoError(t, stopped.Details(&got))
	}
	return got, err
}

// quiet drops the log of the SDK.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

func newBulks(timers, size int) *bulks {
	return &bulks{timers: timers, size: size, pages: map[int]job.Page{}, effects: map[int]int{}, errs: map[int]error{
		2: &wire.Error{Code: wire.AlreadyFinished, State: &timer.View{Status: timer.Delivered}},
		3: wire.FieldErrors{{Pointer: "/due_at", Detail: "is too late"}, {Pointer: "/x"}}.Err(),
	}}
}

var bulkOrder = job.Bulk{ID: "job-1", Operation: job.Cancel, PerSecond: 1e6}

// outcomes are the outcomes of all found timers, in order.
func (b *bulks) outcomes() (all []job.Outcome) {
	for n := range b.timers {
		switch {
		case n%7 == 6:
		case n == 1:
			all = append(all, job.Outcome{Result: job.ResultPending})
		case n == 2:
			all = append(all, job.Outcome{Result: job.ResultSkipped, Code: wire.AlreadyFinished, Status: timer.Delivered})
		case n == 3:
			all = append(all, job.Outcome{Result: job.ResultFailed, Code: wire.InvalidRequest, Detail: "/due_at: is too late"})
		default:
			all = append(all, job.Outcome{Result: job.ResultDone})
		}
	}
	return all
}

// stored are the outcomes on the pages.
func (b *bulks) stored() (all []job.Outcome) {
	for number := range len(b.pages) {
		all = append(all, b.pages[number].Outcomes...)
	}
	return all
}

func TestBulk(t *testing.T) {
	t.Parallel()
	for timers, pages := range map[int]int{0: 0, 1: 1, 5: 1, 6: 2, 100: 20} {
		store := newBulks(timers, 5)
		got, err := (&bulkTry{}).run(t, store, bulkOrder)
		require.NoError(t, err)
		want := store.outcomes()
		require.Equal(t, len(want), *got.Found)
		require.Equal(t, pages, got.Pages)
		require.Equal(t, pages, store.closed, "they are ended")
		require.Equal(t, want, store.stored())
		if timers == 100 {
			require.Equal(t, []int{84, 1, 1}, []int{got.Done, got.Skipped, got.Failed})
		}
	}
	dry, store := bulkOrder, newBulks(100, 5)
	dry.DryRun = true
	got, err := (&bulkTry{}).run(t, store, dry)
	require.NoError(t, err)
	require.Equal(t, 86, *got.Found)
	require.Zero(t, got.Done)
	require.Empty(t, store.effects)
	require.Empty(t, store.stored(), "nothing was done")
	require.Len(t, store.pages, 20, "the list is kept")
	require.Equal(t, 20, store.closed)
}

// A job that follows a count works on what was counted, and on nothing that matches since.
func TestBulkAfterACount(t *testing.T) {
	t.Parallel()
	dry, store := bulkOrder, newBulks(20, 5)
	dry.DryRun = true
	counted, err := (&bulkTry{}).run(t, store, dry)
	require.NoError(t, err)
	seen := store.outcomes()
	store.counted, store.pages, store.timers, store.moving = store.pages, map[int]job.Page{}, 40, 2

	order := bulkOrder
	order.Counted, order.CountedPages = "count", counted.Pages
	got, err := (&bulkTry{}).run(t, store, order)
	require.NoError(t, err)
	require.Equal(t, *counted.Found, *got.Found)
	require.Equal(t, seen, store.stored())
	for n := range store.effects {
		require.Less(t, n, 20, "it was not seen")
	}

	delete(store.counted, 2)
	before := len(store.effects)
	_, err = (&bulkTry{}).run(t, store, order)
	failed, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok, "%v", err)
	require.True(t, failed.NonRetryable(), "what is gone does not come back")
	require.Len(t, store.effects, before)

	order.CountedPages = 0
	nothing, err := (&bulkTry{}).run(t, store, order)
	require.NoError(t, err)
	require.Zero(t, *nothing.Found, "a count that found nothing")
}

// A timer that begins another run while the others are listed is found, and each only once.
func TestBulkFindsWhatMoves(t *testing.T) {
	t.Parallel()
	store := newBulks(10, 5)
	store.moving = 3
	got, err := (&bulkTry{}).run(t, store, bulkOrder)
	require.NoError(t, err)
	require.Equal(t, len(store.outcomes())+3, *got.Found)
	require.Equal(t, 2+3, got.Pages)
	for _, n := range []int{0, 10, 11, 12} {
		require.Equal(t, 1, store.effects[n], "%d", n)
	}
	require.Len(t, store.stored(), *got.Found)
}

// A stop leaves pages with the finished work, and the unfinished page in its result.
func TestBulkIsStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	store := newBulks(1000, 5)
	store.dies = func() bool {
		if len(store.effects) > 40 {
			stop(temporal.NewCanceledError())
		}
		return false
	}
	got, err := (&bulkTry{job: ctx}).run(t, store, bulkOrder)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	require.Equal(t, len(store.effects), got.Done)
	told := append(store.stored(), got.OutcomesOf(got.At())...)
	if page := store.pages[got.At()]; len(page.Outcomes) > 0 {
		told = store.stored()
	}
	require.Len(t, told, got.Done+got.Skipped+got.Failed)
	require.Equal(t, got.Pages, store.closed)
}

// A worker may be killed at any moment, a while after its last heartbeat. In the end each
// timer has its outcome, also where a search would miss what the job has changed.
func TestBulkKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range 200 {
		store := newBulks(1+random.IntN(120), 1+random.IntN(30))
		store.filtered = n%2 == 0
		var from *job.BulkProgress
		for kills := random.IntN(5); ; kills-- {
			calls := random.IntN(12 + 3*store.timers/store.size)
			store.dies = func() bool { calls--; return kills > 0 && calls < 0 }
			y := &bulkTry{from: from}
			got, err := y.run(t, store, bulkOrder)
			if err == nil {
				want := store.outcomes()
				require.Equal(t, len(want), *got.Found)
				require.Equal(t, want, store.stored())
				require.Equal(t, len(want), got.Done+got.Skipped+got.Failed, "each is counted once")
				break
			}
			if told := y.told[y.known:]; len(told) > 0 {
				from = &told[random.IntN(len(told))]
			}
		}
	}
}

// A worker that stood still, and was replaced meanwhile, writes no page over those of the next one, and
// changes no timer that this one may not have found.
func TestBulkThatWasReplaced(t *testing.T) {
	t.Parallel()
	for calls := range 8 {
		store := newBulks(20, 10)
		pages := 0
		store.dies = func() bool {
			if store.replaced = store.replaced || calls == 0; !store.replaced {
				pages = len(store.pages)
			}
			calls--
			return false
		}
		_, err := (&bulkTry{}).run(t, store, bulkOrder)
		require.Error(t, err, calls)
		require.Empty(t, store.effects)
		require.LessOrEqual(t, len(store.pages), pages+1, "the call during which it was replaced")
	}
}

// Nor does one that stood still as it stored a page, which the next one has stored meanwhile.
func TestBulkThatIsReplacedAsItStores(t *testing.T) {
	t.Parallel()
	store := newBulks(20, 10)
	next := job.Page{Items: []job.Item{{RunID: "of the next one"}}}
	store.adding = func() { store.replaced, store.pages[0] = true, next }
	_, err := (&bulkTry{}).run(t, store, bulkOrder)
	require.Error(t, err)
	require.Equal(t, map[int]job.Page{0: next}, store.pages)
}

// A worker that stops hands a search on, and does not wait for its end.
func TestBulkSearchIsHandedOver(t *testing.T) {
	t.Parallel()
	store, stop := newBulks(1000, 10), make(chan struct{})
	calls := 0
	store.dies = func() bool {
		if calls++; calls == 5 {
			close(stop)
		}
		return false
	}
	_, err := (&bulkTry{stop: stop}).run(t, store, bulkOrder)
	handedOver, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "leaving", handedOver.Type())
	require.Less(t, len(store.pages), 3)
	require.Empty(t, store.effects)
}
