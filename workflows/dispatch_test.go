package workflows_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// mass is a dispatch in workflow time: its memo, and the actions of its shards.
type mass struct {
	*testsuite.TestWorkflowEnvironment
	t     *testing.T
	memos []dispatch.Memo
	// executor is the result of a run of the executor, by its number.
	executor func(ctx context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error)

	mu     sync.Mutex // activities run beside one another
	shards []dispatch.Shard
	swept  []dispatch.Cleanup
	// sweeping is called during a cleanup. It may be nil.
	sweeping func()
	// back are the shards whose items were put back.
	back []dispatch.Shard
}

func newMass(t *testing.T) *mass {
	m := &mass{TestWorkflowEnvironment: newEnvironment(), t: t}
	m.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if memo, ok := args.Get(0).(map[string]any)[workflows.MemoDispatch].(dispatch.Memo); ok {
			m.memos = append(m.memos, memo)
		}
	})
	counts := map[int]int{}
	m.RegisterActivityWithOptions(func(ctx context.Context, shard dispatch.Shard) (dispatch.ShardRunResult, error) {
		require.Equal(t, workflows.DispatchQueue, activity.GetInfo(ctx).TaskQueue)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.shards = append(m.shards, shard)
		counts[shard.Number]++
		if m.executor != nil {
			return m.executor(ctx, shard, counts[shard.Number])
		}
		return all(shard), nil
	}, activity.RegisterOptions{Name: workflows.ActivityDispatch})
	m.RegisterActivityWithOptions(func(_ context.Context, sweep dispatch.Cleanup) error {
		m.swept = append(m.swept, sweep)
		if m.sweeping != nil {
			m.sweeping()
		}
		return nil
	}, activity.RegisterOptions{Name: workflows.ActivityCleanup})
	m.RegisterActivityWithOptions(func(_ context.Context, shard dispatch.Shard) (dispatch.State, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.back = append(m.back, shard)
		left := shard.Source.Items - shard.State.Done
		return dispatch.State{GivenUp: 1, Counts: dispatch.Counts{Found: shard.Source.Items, Done: shard.State.Done, Failed: left}}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityPutBack})
	return m
}

// all is a run in which every item was taken.
func all(shard dispatch.Shard) dispatch.ShardRunResult {
	items := shard.Source.Items
	return dispatch.ShardRunResult{End: dispatch.RunDone, Plan: shard.Plan, State: dispatch.State{
		End: true, Counts: dispatch.Counts{Found: items, Done: items, Callbacks: items},
	}}
}

// details are what the Web UI shows.
func (m *mass) details() string {
	value, err := m.QueryWorkflow("__temporal_workflow_metadata")
	require.NoError(m.t, err)
	var metadata sdkpb.WorkflowMetadata
	require.NoError(m.t, value.Get(&metadata))
	return metadata.GetCurrentDetails()
}

func (m *mass) last() dispatch.Memo { return m.memos[len(m.memos)-1] }

// ordered is an order of a dispatch at a rate, with stored items.
func ordered(perSecond float64, sizes ...int) workflows.DispatchInput {
	in := workflows.DispatchInput{Memo: dispatch.Memo{
		Order: dispatch.Dispatch{Key: wire.Key{BusinessType: "mass", BusinessID: "d"}, PerSecond: perSecond}, Status: dispatch.Scheduled,
		Plan: dispatch.Plan{PerSecond: perSecond},
	}}
	in.Parts, in.Sizes = []dispatch.Part{{Prefix: "dispatch-page:mass/d/", Pages: len(sizes)}}, sizes
	total := 0
	for _, size := range sizes {
		total += size
	}
	in.Memo.Items = &total
	return in
}

// An upload is cut into shards of equal size, by the rate. Each begins where the last one ends.
func TestAnUploadIsCutIntoShards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond float64
		sizes     []int
		shards    int
	}{{50, []int{10}, 1}, {500, []int{100, 50, 30}, 3}, {9000, []int{1000, 1000, 1, 999}, 8}, {9000, []int{1, 1, 1}, 3}, {10, []int{1000, 7}, 1}} {
		m := newMass(t)
		m.ExecuteWorkflow(workflows.TypeDispatch, ordered(c.perSecond, c.sizes...))
		require.NoError(t, m.GetWorkflowError())
		require.Len(t, m.shards, c.shards)
		slices.SortFunc(m.shards, func(a, b dispatch.Shard) int { return a.Number - b.Number })
		total, page, at := 0, 0, 0
		for n := range c.shards {
			source := m.shards[n].Source
			require.Equal(t, n, m.shards[n].Number)
			for at >= c.sizes[page] {
				at -= c.sizes[page]
				page++
			}
			require.Equal(t, []int{page, at}, []int{source.First, source.Skip})
			total, at = total+source.Items, at+source.Items
			require.InDelta(t, m.shards[0].Source.Items, source.Items, 1)
			require.Len(t, m.shards[n].Plan.Active, c.shards, "all of them begin together")
		}
		require.Equal(t, *ordered(c.perSecond, c.sizes...).Memo.Items, total)
		require.Equal(t, dispatch.Done, m.last().Status)
		require.Equal(t, total, m.last().Total.Done)
		require.Equal(t, []dispatch.Cleanup{{Delete: []dispatch.Part{{Prefix: "dispatch-page:mass/d/", Pages: len(c.sizes)}}, Uploads: "dispatch-page:mass/d//"}}, m.swept)
	}
}

// Of a loader's shards some send side by side, and each ended shard makes room for the next.
func TestShardsOfALoader(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	in := ordered(250)
	in.Parts, in.Memo.Items, in.Memo.Order.Loader = nil, nil, &dispatch.Loader{URL: "https://h/", Shards: 5}
	most := 0
	m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
		most = max(most, len(m.memos[len(m.memos)-1].Plan.Active))
		end := all(shard)
		switch {
		case shard.Number == 1 && n == 1: // its share is for the others while it waits
			end.End, end.WakeAt = dispatch.RunWaits, wire.At(m.Now().Add(time.Hour))
		case shard.Number == 2:
			end.State.Problem = &delivery.Failure{Message: "The loader did not answer"}
			end.State.GivenUp, end.State.Ladder = 2, []dispatch.Queue{{}, {Head: 1, Tail: 3}}
		case shard.Number == 3:
			return end, temporal.NewNonRetryableApplicationError("broken", "", nil)
		case shard.Number == 4 && n == 1:
			end.End = dispatch.RunYielded
		}
		return end, nil
	}
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	require.ErrorContains(t, m.GetWorkflowError(), "not complete", "a stopped shard is told of")
	require.Equal(t, 3, most)
	require.Len(t, m.shards, 7, "each was begun, and two had a second run")
	last := m.last()
	require.Equal(t, dispatch.Failed, last.Status)
	require.Equal(t, []dispatch.Part{{Prefix: "dispatch-shard:mass/d/0.0/2/failed/", Pages: 2}}, last.Failed)
	require.Len(t, last.Stopped, 2, "which, and why")
	require.Equal(t, []any{2, dispatch.ShardStopped, "The loader did not answer"}, []any{last.Stopped[0].Shard, last.Stopped[0].Status, last.Stopped[0].Problem.Message})
	require.Equal(t, 3, last.Stopped[1].Shard)
	require.Equal(t, string(delivery.ShardBroken), last.Stopped[1].Problem.Message, "and nothing of the error itself")

	again := newMass(t) // another try of the failed items does not make an incomplete dispatch complete
	tried := ordered(50, 2)
	tried.Memo.Stopped, tried.Memo.Round = last.Stopped, 1
	again.ExecuteWorkflow(workflows.TypeDispatch, tried)
	require.Equal(t, dispatch.Failed, again.last().Status)
	require.Equal(t, last.Stopped, again.last().Stopped)
	require.Equal(t, []dispatch.Cleanup{{
		Delete: []dispatch.Part{{Prefix: "dispatch-shard:mass/d/0.0/2/retry-1/", Pages: 3}}, Close: last.Failed,
	}}, m.swept)
}

// Nothing starts before the items are stored and it is due; an upload may be silent for an
// hour.
func TestADispatchWaits(t *testing.T) {
	t.Parallel()
	paused, resumed := true, false
	for name, c := range map[string]struct {
		prepare func(m *mass, in *workflows.DispatchInput)
		status  dispatch.Status
		began   time.Duration
	}{
		"for its upload": {func(m *mass, _ *workflows.DispatchInput) {
			m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalStored, nil) }, 50*time.Minute)
			m.RegisterDelayedCallback(func() {
				m.SignalWorkflow(workflows.SignalCommit, workflows.DispatchCommit{Parts: []dispatch.Part{{Prefix: "p/", Pages: 1}}, Sizes: []int{7}})
			}, 100*time.Minute)
		}, dispatch.Done, 100 * time.Minute},
		"for an upload that never ends": {func(*mass, *workflows.DispatchInput) {}, dispatch.Failed, 0},
		"for an upload, and is cancelled": {func(m *mass, _ *workflows.DispatchInput) {
			m.RegisterDelayedCallback(m.CancelWorkflow, time.Minute)
		}, dispatch.Cancelled, 0},
		"until it is due": {func(m *mass, in *workflows.DispatchInput) {
			in.Memo.Status, in.Memo.DueAt = dispatch.Scheduled, wire.At(m.Now().Add(30*time.Hour))
		}, dispatch.Done, 30 * time.Hour},
		"until it is due, and is cancelled": {func(m *mass, in *workflows.DispatchInput) {
			in.Memo.Status, in.Memo.DueAt = dispatch.Scheduled, wire.At(m.Now().Add(30*time.Hour))
			m.RegisterDelayedCallback(m.CancelWorkflow, time.Minute)
		}, dispatch.Cancelled, 0},
		"until it is resumed": {func(m *mass, in *workflows.DispatchInput) {
			in.Memo.Status = dispatch.Scheduled
			in.Memo.Plan.Paused = true
			m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &resumed}) }, time.Hour)
		}, dispatch.Done, time.Hour},
		"paused, until its upload is complete": {func(m *mass, _ *workflows.DispatchInput) {
			m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &paused}) }, time.Minute)
			m.RegisterDelayedCallback(func() {
				m.SignalWorkflow(workflows.SignalCommit, workflows.DispatchCommit{Sizes: []int{7}})
			}, 2*time.Minute)
			m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &resumed}) }, time.Hour)
		}, dispatch.Done, time.Hour},
		"until its latest time": {func(m *mass, in *workflows.DispatchInput) {
			latest := wire.At(m.Now().Add(time.Hour))
			in.Memo.Status, in.Memo.Plan.Paused, in.Memo.Order.LatestAt = dispatch.Scheduled, true, &latest
		}, dispatch.Expired, 0},
		"with a latest time, and is cancelled": {func(m *mass, in *workflows.DispatchInput) {
			latest := wire.At(m.Now().Add(time.Hour))
			in.Memo.Status, in.Memo.Plan.Paused, in.Memo.Order.LatestAt = dispatch.Scheduled, true, &latest
			m.RegisterDelayedCallback(m.CancelWorkflow, time.Minute)
		}, dispatch.Cancelled, 0},
		"with a latest time that it meets": {func(m *mass, in *workflows.DispatchInput) {
			latest := wire.At(m.Now().Add(time.Hour))
			in.Memo.Status, in.Memo.Order.LatestAt = dispatch.Scheduled, &latest
		}, dispatch.Done, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMass(t)
			in := ordered(50, 7)
			in.Memo.Status = dispatch.Uploading
			c.prepare(m, &in)
			if in.Memo.Status == dispatch.Uploading {
				in.Parts, in.Sizes = nil, nil
			}
			ordered := m.Now()
			m.ExecuteWorkflow(workflows.TypeDispatch, in)
			require.Equal(t, c.status, m.last().Status)
			if c.status != dispatch.Done {
				require.Empty(t, m.shards, "nothing started")
			} else {
				require.WithinDuration(t, ordered.Add(c.began), m.last().StartedAt.Time(), time.Second)
				require.Equal(t, 7, m.last().Total.Done)
			}
			require.NotEmpty(t, m.swept, "nothing is left behind")
			if c.status == dispatch.Cancelled {
				require.True(t, temporal.IsCanceledError(m.GetWorkflowError()) || m.GetWorkflowError() != nil)
			}
		})
	}
}

// A running dispatch is paused, resumed, changed and cancelled; its shards end first.
func TestADispatchThatRunsIsChanged(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	began := m.Now()
	yes, no, rate := true, false, 900.0
	for _, change := range []dispatch.Change{{PerSecond: &rate}, {Paused: &yes}, {Paused: &yes}} {
		m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, change) }, time.Minute)
	}
	m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalShard, workflows.ShardNews{Shard: 77}) }, 2*time.Minute)
	m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalProgress, dispatch.Counts{Done: 321, Failed: 4}) }, 3*time.Minute)
	m.RegisterDelayedCallback(func() {
		require.Equal(t, "paused: 321 of 1000 items done, 4 failed, 900 a second", m.details())
	}, 4*time.Minute)
	m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &no}) }, time.Hour)
	m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
		if n > 1 {
			return all(shard), nil
		}
		return dispatch.ShardRunResult{End: dispatch.RunPaused, Plan: dispatch.Plan{PerSecond: 900, Paused: true, Changes: 3}}, nil
	}
	m.ExecuteWorkflow(workflows.TypeDispatch, ordered(300, 1000))
	require.NoError(t, m.GetWorkflowError())
	last := m.last()
	require.Equal(t, 4, last.Plan.Changes)
	require.InDelta(t, 900, last.Plan.PerSecond, 0)
	require.WithinDuration(t, began.Add(time.Hour), last.Plan.Began.Time(), time.Second, "it is flat from then on")
	require.Equal(t, 1000, last.Total.Done)
	var statuses []dispatch.Status
	for _, memo := range m.memos {
		if len(statuses) == 0 || statuses[len(statuses)-1] != memo.Status {
			statuses = append(statuses, memo.Status)
		}
	}
	require.Equal(t, []dispatch.Status{dispatch.Running, dispatch.Paused, dispatch.Running, dispatch.Done}, statuses)
}

// The time of a pause does not count as sending time. Sending lasts until the shards learn
// of the pause. A shard that only waits for its ladder learns of it later.
func TestThePauseOfADispatchDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		heard time.Duration
		done  int
		want  time.Duration
	}{
		"heard of it":      {600 * time.Millisecond, 600, 10*time.Second + 100*time.Millisecond},
		"heard late":       {time.Minute, 600, 10*time.Second + 500*time.Millisecond},
		"has sent nothing": {600 * time.Millisecond, 0, 9*time.Second + 500*time.Millisecond},
	} {
		m := newMass(t)
		yes, no := true, false
		m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
			if n > 1 {
				return all(shard), nil
			}
			return dispatch.ShardRunResult{End: dispatch.RunWaits, WakeAt: wire.At(m.Now().Add(time.Hour)), Plan: shard.Plan}, nil
		}
		m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &yes}) }, 10*time.Second)
		m.RegisterDelayedCallback(func() {
			m.SignalWorkflow(workflows.SignalShard, workflows.ShardNews{Active: true, Counts: dispatch.Counts{Done: c.done}})
		}, 10*time.Second+c.heard)
		m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &no}) }, 30*time.Minute)
		m.ExecuteWorkflow(workflows.TypeDispatch, ordered(60, 1000))
		require.NoError(t, m.GetWorkflowError())
		require.Equal(t, c.want, m.last().SentFor.D(), name)
		require.Zero(t, m.last().HeldAt, name)
	}
}

// A shard that waits for its ladder leaves its part of the rate to the others, unless so
// many messages have made the dispatch's history long.
func TestADispatchHearsOfShardsThatWait(t *testing.T) {
	t.Parallel()
	const waits = 5
	for length, want := range map[int]int{100: waits + 1, 20_000: 1 + 1} { // the last time is its end
		m := newMass(t)
		m.SetCurrentHistoryLength(length)
		m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
			plan := shard.Plan
			if len(m.memos) > 0 {
				plan = m.last().Plan
			}
			if shard.Number == 0 && n <= waits {
				return dispatch.ShardRunResult{End: dispatch.RunWaits, WakeAt: wire.At(m.Now().Add(time.Minute)), Plan: plan}, nil
			}
			return all(shard), nil
		}
		in := ordered(400, 1000)
		m.ExecuteWorkflow(workflows.TypeDispatch, in)
		require.NoError(t, m.GetWorkflowError())
		heard, sent := 0, true
		for _, memo := range m.memos {
			_, sends := memo.Plan.PlaceOf(0)
			if memo.Status == dispatch.Running && sent && !sends {
				heard++
			}
			sent = sends
		}
		require.Equal(t, want, heard, "with %d events", length)
		require.Equal(t, dispatch.Done, m.last().Status)
	}
}

// However a running dispatch is ended, its shards report their progress.
func TestADispatchThatRunsEnds(t *testing.T) {
	t.Parallel()
	for name, latest := range map[string]time.Duration{"cancelled": 0, "expired": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMass(t)
			in := ordered(300, 1000)
			if latest > 0 {
				at := wire.At(m.Now().Add(latest))
				in.Memo.Order.LatestAt = &at
			} else {
				m.RegisterDelayedCallback(m.CancelWorkflow, time.Hour)
			}
			m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
				end := all(shard)
				switch {
				case shard.Number == 1 && n == 1:
					end.End, end.WakeAt = dispatch.RunWaits, wire.At(m.Now().Add(10*time.Hour))
				default:
					end.End, end.Plan.Paused = dispatch.RunPaused, true
				}
				end.State.Done = 300
				return end, nil
			}
			m.ExecuteWorkflow(workflows.TypeDispatch, in)
			last := m.last()
			require.Equal(t, dispatch.Status(name), last.Status)
			require.Equal(t, 600, last.Total.Done)
			require.Empty(t, last.Plan.Active)
		})
	}
}

// A recurring dispatch continues as new with its next occurrence, on the same items.
func TestARecurringDispatch(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	in := ordered(50, 7)
	every, booked := wire.Duration(time.Hour), wire.At(m.Now())
	in.Memo.Order.Recurrence, in.Memo.Cursor, in.Memo.Occurrence, in.Memo.DueAt = &recurrence.Rule{Every: &every}, recurrence.Cursor{Booked: booked}, 1, booked.Add(time.Minute)
	m.executor = func(_ context.Context, shard dispatch.Shard, _ int) (dispatch.ShardRunResult, error) {
		end := all(shard)
		end.State.Failed, end.State.GivenUp = 1, 1
		return end, nil
	}
	rate := 77.0
	m.sweeping = func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{PerSecond: &rate}) }
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	next, ok := errors.AsType[*workflow.ContinueAsNewError](m.GetWorkflowError())
	require.True(t, ok, "%v", m.GetWorkflowError())
	require.Equal(t, workflows.TypeDispatch, next.WorkflowType.Name)
	last := m.last()
	require.InDelta(t, 77, last.Plan.PerSecond, 0, "what was changed in the last moment holds")
	require.Equal(t, []int{1, 7, 1}, []int{last.Last.Occurrence, last.Last.Done, last.Last.Failed})
	for _, memo := range m.memos {
		require.False(t, memo.Status.Finished(), "it goes on")
	}
	require.Equal(t, 2, last.Occurrence)
	require.Equal(t, dispatch.Scheduled, last.Status)
	require.Greater(t, last.DueAt, booked.Add(time.Minute))
	require.Nil(t, last.Total)
	require.Equal(t, []dispatch.Cleanup{{Close: last.Last.Pages}}, m.swept, "its items are needed again")
	require.NotEqual(t, m.shards[0].ItemID(dispatch.Item{ID: "a"}), last.ID().ItemID(dispatch.Item{ID: "a"}))

	m = newMass(t)
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	require.ErrorAs(t, m.GetWorkflowError(), &next)
	require.Empty(t, m.swept, "there is nothing else")
}

// A worker that stood still may go on with an earlier dispatch of the same id. It must not delete or
// replace a page of the present one.
func TestDispatchesOfOneIDShareNoPages(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	for _, run := range []string{"1a2b3c4d-first", "5e6f7a8b-second"} {
		m, in := newMass(t), ordered(50, 7)
		in.Memo.PagesOfRun, in.Memo.Run, in.Parts[0].Prefix = true, run, workflows.DispatchUploads(dispatch.Memo{Order: in.Memo.Order, Run: run})
		m.executor = func(_ context.Context, shard dispatch.Shard, _ int) (dispatch.ShardRunResult, error) {
			end := all(shard)
			end.State.GivenUp, end.State.Ladder = 1, []dispatch.Queue{{}, {Head: 1, Tail: 1}}
			return end, nil
		}
		m.ExecuteWorkflow(workflows.TypeDispatch, in)
		require.NoError(t, m.GetWorkflowError())
		stored := m.shards[0].Stored
		require.Equal(t, workflows.DispatchPages(in.Memo, 0), stored)
		require.Equal(t, []dispatch.Part{{Prefix: dispatch.GivenUp(stored).Prefix, Pages: 1}}, m.last().Failed)
		require.Contains(t, m.swept[0].Delete, dispatch.Part{Prefix: dispatch.Ladder(stored, 1).Prefix, Pages: 1})
		for _, part := range slices.Concat(m.swept[0].Delete, m.swept[0].Close) {
			require.NotContains(t, pages, part.Prefix, "the first one stores it as well")
			pages[part.Prefix] = run
		}
	}
	require.Len(t, pages, 6)
}

// A recurring dispatch that is cancelled between two occurrences ends, and leaves nothing
// behind.
func TestARecurringDispatchIsCancelledWhileItSweeps(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	in := ordered(50, 7)
	every, booked := wire.Duration(time.Hour), wire.At(m.Now())
	in.Memo.Order.Recurrence, in.Memo.Cursor, in.Memo.Occurrence, in.Memo.DueAt = &recurrence.Rule{Every: &every}, recurrence.Cursor{Booked: booked}, 1, booked
	m.executor = func(_ context.Context, shard dispatch.Shard, _ int) (dispatch.ShardRunResult, error) {
		end := all(shard)
		end.State.GivenUp, end.State.Claimed = 1, true
		return end, nil
	}
	in.Memo.Run = "run"
	m.sweeping = func() { m.sweeping = nil; m.CancelWorkflow() } // the items are cleared away then
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	require.True(t, temporal.IsCanceledError(m.GetWorkflowError()), "%v", m.GetWorkflowError())
	require.Equal(t, dispatch.Cancelled, m.last().Status)
	require.Equal(t, []string{"run", "mass"}, []string{m.swept[0].Yield, m.swept[0].BusinessType}, "what it claimed is free again")
	require.Equal(t, in.Parts, m.swept[len(m.swept)-1].Delete)
}

// A resumed recurring dispatch waits for its next occurrence. An ended one can no longer be
// paused.
func TestARecurringDispatchIsResumed(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	in := ordered(50, 7)
	every, booked, once := wire.Duration(time.Hour), wire.At(m.Now()), 1
	in.Memo.Order.Recurrence = &recurrence.Rule{Every: &every, MaxOccurrences: &once}
	in.Memo.Cursor, in.Memo.Occurrence, in.Memo.DueAt, in.Memo.Plan.Paused = recurrence.Cursor{Booked: booked}, 1, booked.Add(time.Hour), true
	yes, no := true, false
	m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &no}) }, 150*time.Minute)
	m.sweeping = func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &yes}) }
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	require.NoError(t, m.GetWorkflowError())
	require.WithinDuration(t, booked.Add(3*time.Hour).Time(), m.last().StartedAt.Time(), time.Second)
	require.Equal(t, dispatch.Done, m.last().Status)
}

// A signal sent by hand may ask for a rate that no gateway allows. Nothing changes.
func TestADispatchRefusesARateThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, -5, 1e-9, 1e9} {
		m, in := newMass(t), ordered(50, 7)
		in.Memo.DueAt = wire.At(m.Now().Add(time.Hour))
		m.RegisterDelayedCallback(func() { m.SignalWorkflow(workflows.SignalChange, dispatch.Change{PerSecond: &rate}) }, time.Minute)
		m.ExecuteWorkflow(workflows.TypeDispatch, in)
		require.NoError(t, m.GetWorkflowError())
		last := m.last()
		require.InDelta(t, 50, last.Plan.PerSecond, 0)
		require.Equal(t, 7, last.Total.Done)
	}
}

// A recurring dispatch whose rule ended during a pause sends nothing when resumed.
func TestADispatchIsResumedAfterItsRule(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	in := ordered(50, 7)
	every, booked := wire.Duration(time.Hour), wire.At(m.Now())
	in.Memo.Order.Recurrence = &recurrence.Rule{Every: &every, EndAt: booked.Add(time.Hour)}
	in.Memo.Cursor, in.Memo.Occurrence, in.Memo.DueAt, in.Memo.Plan.Paused = recurrence.Cursor{Booked: booked}, 1, booked.Add(time.Hour), true
	m.RegisterDelayedCallback(func() {
		m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: new(bool)})
	}, 48*time.Hour)
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	require.NoError(t, m.GetWorkflowError())
	require.Equal(t, dispatch.Expired, m.last().Status)
	require.Empty(t, m.shards)
}

// A recurring dispatch that is paused and resumed after its rule ended sends nothing more, even
// if both come while the last occurrence is swept. One whose rule goes on is due again.
func TestADispatchIsResumedAfterItsRuleWhileItSweeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule time.Duration
		ends bool
	}{"the rule goes on": {rule: 3 * time.Hour}, "the rule has ended": {rule: time.Hour, ends: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMass(t)
			in := ordered(50, 7)
			every, booked := wire.Duration(time.Hour), wire.At(m.Now())
			in.Memo.Order.Recurrence = &recurrence.Rule{Every: &every, EndAt: booked.Add(c.rule)}
			in.Memo.Cursor, in.Memo.DueAt = recurrence.Cursor{Booked: booked}, booked
			m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
				end := all(shard)
				if end.State.GivenUp = 1; n == 1 { // beyond the next occurrence
					end.End, end.WakeAt = dispatch.RunWaits, booked.Add(2*time.Hour)
				}
				return end, nil
			}
			yes, no := true, false
			m.sweeping = func() {
				m.sweeping = nil
				m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &yes})
				m.SignalWorkflow(workflows.SignalChange, dispatch.Change{Paused: &no})
			}
			m.ExecuteWorkflow(workflows.TypeDispatch, in)
			if c.ends {
				require.NoError(t, m.GetWorkflowError())
				require.Equal(t, dispatch.Expired, m.last().Status)
				require.Equal(t, in.Parts, m.swept[len(m.swept)-1].Delete, "its items are needed no more")
				return
			}
			next, ok := errors.AsType[*workflow.ContinueAsNewError](m.GetWorkflowError())
			require.True(t, ok, "%v", m.GetWorkflowError())
			require.Equal(t, workflows.TypeDispatch, next.WorkflowType.Name)
			require.Equal(t, booked.Add(3*time.Hour), m.last().DueAt)
		})
	}
}

// A shard without a worker is cancelled at once, and one with a long history starts a new run.
func TestAShard(t *testing.T) {
	t.Parallel()
	shard := dispatch.Shard{Plan: dispatch.Plan{PerSecond: 50, Active: []int{0}}, Source: dispatch.Source{Items: 5}}
	m := newMass(t)
	m.executor = func(context.Context, dispatch.Shard, int) (dispatch.ShardRunResult, error) {
		return dispatch.ShardRunResult{}, activity.ErrResultPending
	}
	m.RegisterDelayedCallback(m.CancelWorkflow, time.Minute)
	m.ExecuteWorkflow(workflows.TypeDispatchShard, shard)
	require.NoError(t, m.GetWorkflowError())

	m = newMass(t) // nobody waits for it
	m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
		if n == 1 {
			return dispatch.ShardRunResult{End: dispatch.RunWaits}, nil
		}
		return all(shard), nil
	}
	m.ExecuteWorkflow(workflows.TypeDispatchShard, shard)
	require.NoError(t, m.GetWorkflowError())

	m = newMass(t)
	m.SetContinueAsNewSuggested(true)
	m.executor = func(_ context.Context, shard dispatch.Shard, _ int) (dispatch.ShardRunResult, error) {
		for _, changes := range []int{3, 2} { // one that was sent before comes late
			m.SignalWorkflow(workflows.SignalPlan, dispatch.Plan{Changes: changes, PerSecond: float64(changes)})
		}
		return dispatch.ShardRunResult{End: dispatch.RunYielded, State: dispatch.State{Page: 3}, Plan: dispatch.Plan{Changes: 1}}, nil
	}
	m.ExecuteWorkflow(workflows.TypeDispatchShard, shard)
	next, ok := errors.AsType[*workflow.ContinueAsNewError](m.GetWorkflowError())
	require.True(t, ok)
	require.Equal(t, workflows.TypeDispatchShard, next.WorkflowType.Name)
	var continued dispatch.Shard
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &continued))
	require.Equal(t, 3, continued.Plan.Changes, "what the run was told the next one knows")

	m = newMass(t)
	m.executor = func(_ context.Context, shard dispatch.Shard, n int) (dispatch.ShardRunResult, error) {
		if n == 1 { // it had read a plan that was older than the one that is known
			return dispatch.ShardRunResult{End: dispatch.RunPaused, Plan: dispatch.Plan{Changes: 1, Paused: true}}, nil
		}
		return all(shard), nil
	}
	continued.State = dispatch.State{}
	m.ExecuteWorkflow(workflows.TypeDispatchShard, continued)
	require.NoError(t, m.GetWorkflowError(), "it does not wait for what has come")
	require.Len(t, m.shards, 2)
}

// A shard that is cancelled while its worker is lost has sent what the last heartbeat told.
func TestACancelledShardWhoseWorkerIsLost(t *testing.T) {
	t.Parallel()
	before, read, told := dispatch.State{Page: 1, GivenUp: 2}, dispatch.State{Page: 3, Base: 300}, dispatch.State{Page: 4, Base: 327}
	silent := func(details ...any) error {
		return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil, details...)
	}
	for name, c := range map[string]struct {
		read *dispatch.State
		err  error
		want dispatch.State
	}{
		"between two attempts":        {&read, temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED"), read},
		"before the first attempt":    {nil, temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED"), before},
		"silent after a heartbeat":    {&read, silent(told), told},
		"silent since before":         {&read, silent(), read},
		"before a heartbeat":          {nil, silent(), before},
		"failed":                      {&read, temporal.NewApplicationError("the store is away", ""), read},
		"failed before it had a sign": {nil, temporal.NewApplicationError("the store is away", ""), before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment()
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&lostWorker{err: c.err}}})
			reports(env, c.read, nil)
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
			env.ExecuteWorkflow(workflows.TypeDispatchShard, dispatch.Shard{State: before})
			var state dispatch.State
			require.NoError(t, env.GetWorkflowResult(&state))
			require.Equal(t, c.want, state)
		})
	}
}

// A shard that was cancelled before it began sends nothing, and asks nobody.
func TestAShardThatIsCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	m := newMass(t)
	before := dispatch.State{Page: 1}
	m.RegisterDelayedCallback(m.CancelWorkflow, 0)
	m.ExecuteWorkflow(workflows.TypeDispatchShard, dispatch.Shard{State: before})
	var state dispatch.State
	require.NoError(t, m.GetWorkflowResult(&state))
	require.Equal(t, before, state)
	require.Empty(t, m.shards)
}

// From ten items a second on, heartbeats cost less than a twentieth of a write per item.
// From fifty on, a killed worker is noticed within two seconds.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond float64
		shards    int
	}{{50, 1}, {200, 1}, {500, 3}, {4000, 8}, {10_000, 8}} {
		plan := dispatch.Plan{PerSecond: c.perSecond, Active: make([]int, c.shards)}
		writes := float64(c.shards) / workflows.DispatchHeartbeat(plan).Seconds()
		require.LessOrEqual(t, writes/c.perSecond, 0.05, "%v", c)
		require.Less(t, workflows.DispatchHeartbeatTimeout(plan), 2*time.Second)
		require.Greater(t, workflows.DispatchHeartbeatTimeout(plan), 2*workflows.DispatchHeartbeat(plan))
	}
	require.Equal(t, time.Minute, workflows.DispatchHeartbeatTimeout(dispatch.Plan{PerSecond: 0.01}))
}

func TestDispatchIDs(t *testing.T) {
	t.Parallel()
	key := wire.Key{BusinessType: "mass", BusinessID: "d"}
	require.Equal(t, "dispatch:mass/d", workflows.DispatchWorkflowID(key))
	require.Equal(t, "dispatch:mass/", workflows.DispatchTypePrefix("mass"))
}
