package dispatches

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

func (s *fixture) got() dispatch.View {
	s.t.Helper()
	view, err := s.Get(s.t.Context(), key)
	require.NoError(s.t, err)
	return view
}

// A dispatch that runs is the sum of its shards: what their executors last said, what their
// workflows have recorded, and nothing of those that have not begun.
func TestADispatchIsTheSumOfItsShards(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(100)
	s.run(3)
	s.shard(0, dispatch.State{Counts: dispatch.Counts{Found: 50, Done: 7, Failed: 1, Callbacks: 9}})
	ended := s.shard(1, dispatch.State{})
	s.worker.Say(t, ended, workflows.MemoShard, dispatch.State{Counts: dispatch.Counts{Found: 10, Done: 10, Callbacks: 10}})
	s.worker.Close(ended, nil)
	view := s.got()
	require.Equal(t, []int{17, 1, 19}, []int{view.Done, view.Failed, view.Callbacks})
	require.Len(t, view.Shards, 3)

	s.on.Refuse("DescribeWorkflowExecution", ended, errors.New("down"))
	_, err := s.Get(t.Context(), key)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "a part is not the whole")
}

// An order under the id of a dispatch that was cancelled begins with nothing: the shards of that one
// have the same ids.
func TestADispatchAfterACancelledOne(t *testing.T) {
	t.Parallel()
	s := open(t)
	for n, done := range []int{7, 3} {
		s.added(100)
		s.run(2)
		require.Zero(t, s.got().Done, "dispatch %d has sent nothing yet", n)
		first := s.shard(0, dispatch.State{GivenUp: 1, Counts: dispatch.Counts{Found: 50, Done: done, Failed: 1}})
		s.worker.Adopt(first, id)
		view := s.got()
		require.Equal(t, done, view.Done)
		require.Equal(t, []string{dispatch.ShardRunning, dispatch.ShardWaiting}, []string{view.Shards[0].Status, view.Shards[1].Status})
		second := s.shard(1, dispatch.State{GivenUp: 1, Counts: dispatch.Counts{Found: 50, Done: 20}})
		s.worker.Adopt(second, id)
		require.Equal(t, done+20, s.got().Done)
		s.worker.Close(first, nil)
		s.worker.Close(second, nil)
		s.end(dispatch.Cancelled)
	}
	s.added(100)
	s.run(2)
	require.NoError(t, s.Failures(t.Context(), key, func(dispatch.Failure) error {
		t.Error("it has given no item up")
		return nil
	}))
}

// A shard that no worker takes says so.
func TestAShardThatWaitsForAWorker(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(1)
	s.run(1)
	shard := s.shard(0, dispatch.State{})
	s.worker.Pend(shard, &workflowpb.PendingActivityInfo{
		State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, ScheduledTime: timestamppb.New(time.Now().Add(-2 * tuning.TakenWithin)),
	})
	require.Equal(t, delivery.WaitsForWorker, s.got().WaitsFor)
}

// A dispatch that somebody ended could not say so itself.
func TestADispatchThatWasTerminated(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(3)
	s.run(1)
	require.NoError(t, s.on.TerminateWorkflow(t.Context(), id, "", "by hand"))
	view := s.got()
	require.Equal(t, dispatch.Cancelled, view.Status)
	require.NotZero(t, view.FinishedAt)
	require.Zero(t, view.Done)

	again := open(t)
	again.added(3)
	again.run(1)
	again.change(func(memo *dispatch.Memo) { memo.Round, memo.Retried = 1, 2 })
	require.NoError(t, again.on.TerminateWorkflow(t.Context(), id, "", "by hand"))
	require.Equal(t, 2, again.got().Memo.Total.Failed, "what was tried again is where it was")
}

// A dispatch that was terminated shows what its shards had done by their last heartbeats, and
// its failed items are retried like those of any other.
func TestATerminatedDispatchKeepsItsCounts(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(100)
	s.run(3)
	part := s.gaveUp(0, 2)
	failure := delivery.ShardBroken.Failure(wire.At(time.Now()))
	shards := []string{
		s.shard(0, dispatch.State{GivenUp: 1, Counts: dispatch.Counts{Found: 50, Done: 7, Failed: 2, InFlight: 4, Callbacks: 11}}),
		s.shard(1, dispatch.State{Problem: failure, Counts: dispatch.Counts{Found: 30, Done: 30, Callbacks: 30}}),
	}
	for _, of := range append(shards, id) {
		require.NoError(t, s.on.TerminateWorkflow(t.Context(), of, "", "by hand"))
	}
	view := s.got()
	require.Equal(t, dispatch.Cancelled, view.Status)
	require.Equal(t, []int{37, 2, 0, 41, 61}, []int{view.Done, view.Failed, view.InFlight, view.Callbacks, *view.Rest})
	require.Len(t, view.Shards, 1, "the one that stopped")
	require.Equal(t, []dispatch.Part{part}, view.Memo.Failed)
	require.Len(t, s.failures(), 2)
	page, _, err := s.List(t.Context(), Request{Size: 10})
	require.NoError(t, err)
	require.Equal(t, 37, page[0].Done)

	s.on.Refuse("DescribeWorkflowExecution", shards[0], errors.New("down"))
	_, err = s.Get(t.Context(), key)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "a part is not the whole")
	s.on.Refuse("DescribeWorkflowExecution", shards[0], nil)

	again, retried, err := s.RetryFailures(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, 2, retried)
	require.Equal(t, []int{37, 0}, []int{again.Done, again.Failed})
}

func TestWhatIsNoDispatch(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, k := range map[string]wire.Key{"nothing": key, "no key": {BusinessType: "order", BusinessID: "a b"}} {
		_, err := s.Get(t.Context(), k)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), name)
		require.ErrorContains(t, err, "no such dispatch", name)
	}
	startShard(t, s.on, id)
	_, err := s.Get(t.Context(), key)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "another workflow has its id")
	s.on.Err = serviceerror.NewUnavailable("busy")
	_, err = s.Get(t.Context(), key)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// put has a dispatch with an id stand in a status.
func (s *fixture) put(businessID string, status dispatch.Status) {
	s.t.Helper()
	given := order()
	given.BusinessID = businessID
	view, _, err := s.Open(s.t.Context(), given)
	require.NoError(s.t, err)
	of := workflows.DispatchWorkflowID(given.Key)
	if view.Memo.Status = status; status == dispatch.Running {
		view.Memo.StartedAt, view.Memo.Shards = wire.At(time.Now()), 1
	}
	s.worker.Say(s.t, of, workflows.MemoDispatch, view.Memo)
	switch {
	case status == dispatch.Cancelled:
		s.worker.Cancel(of)
	case status.Finished():
		s.worker.Close(of, nil)
	}
}

// A list has the dispatches of a type and a status, those that run first, without their shards.
func TestDispatchesAreListed(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, status := range map[string]dispatch.Status{
		"done": dispatch.Done, "faults": dispatch.DoneWithFailures, "cancelled": dispatch.Cancelled, "uploading": dispatch.Uploading, "running": dispatch.Running,
	} {
		s.put(name, status)
	}
	for name, c := range map[string]struct {
		asked Request
		want  []string
	}{
		"all":              {Request{}, []string{"cancelled", "done", "faults", "running", "uploading"}},
		"done":             {Request{Status: dispatch.Done}, []string{"done"}},
		"done with faults": {Request{Status: dispatch.DoneWithFailures}, []string{"faults"}},
		"cancelled":        {Request{Status: dispatch.Cancelled}, []string{"cancelled"}},
		"failed":           {Request{Status: dispatch.Failed}, nil},
		"running":          {Request{Status: dispatch.Running}, []string{"running"}},
		"uploading":        {Request{Status: dispatch.Uploading}, []string{"uploading"}},
		"of a type":        {Request{BusinessType: "order", Status: dispatch.Done}, []string{"done"}},
		"of another":       {Request{BusinessType: "invoice"}, nil},
		"of a part of one": {Request{BusinessType: "ord"}, nil},
	} {
		c.asked.Size = 10
		page, next, err := s.List(t.Context(), c.asked)
		require.NoError(t, err, name)
		require.Empty(t, next, name)
		var found []string
		for _, view := range page {
			found = append(found, view.BusinessID)
			require.Nil(t, view.Shards, name)
		}
		require.ElementsMatch(t, c.want, found, name)
	}
	ahead, err := s.Ahead(t.Context(), "order")
	require.NoError(t, err)
	require.Len(t, ahead, 2, "what sends or will")

	first, next, err := s.List(t.Context(), Request{Size: 3})
	require.NoError(t, err)
	require.Len(t, first, 3)
	require.False(t, first[0].Status.Finished())
	rest, _, err := s.List(t.Context(), Request{Size: 3, Token: next})
	require.NoError(t, err)
	require.Len(t, rest, 2)
	s.on.Err = errors.New("down")
	_, _, err = s.List(t.Context(), Request{Size: 1})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A page is no shorter for a dispatch that cannot be read, and wrong where one cannot be asked.
func TestAListWithADispatchThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(1)
	s.worker.Say(t, id, workflows.MemoDispatch, "?")
	page, _, err := s.List(t.Context(), Request{Size: 10})
	require.NoError(t, err)
	require.Empty(t, page)

	other := open(t)
	other.added(1)
	other.run(1)
	other.on.Refuse("DescribeWorkflowExecution", workflows.DispatchShardID(other.memo().ID(), 0, 0), errors.New("down"))
	_, _, err = other.List(t.Context(), Request{Size: 10})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// What the shards of one dispatch go by costs one read for a moment.
func TestWhatADispatchSaysIsTrustedForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.added(3)
		before := len(s.on.Calls("DescribeWorkflowExecution"))
		read := func() int {
			memo, err := s.Read(t.Context(), key, time.Time{})
			require.NoError(t, err)
			require.Equal(t, 3, *memo.Items)
			return len(s.on.Calls("DescribeWorkflowExecution")) - before
		}
		require.Equal(t, 1, read())
		require.Equal(t, 1, read())
		<-time.After(tuning.MemoTrusted)
		require.Equal(t, 2, read())

		s.end(dispatch.Done)
		<-time.After(tuning.MemoTrusted)
		_, err := s.Read(t.Context(), key, time.Time{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "it has ended")
		_, err = s.Read(t.Context(), wire.Key{BusinessType: "order", BusinessID: "nothing"}, time.Time{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		<-time.After(2 * tuning.MemoTrusted)
		_, _ = s.Read(t.Context(), key, time.Time{})
		require.Len(t, s.memos.entries, 1, "what nobody asks for is forgotten")
	})
}

// An executor that begins learns nothing of the dispatch that had the id a moment ago: neither
// that it has ended, nor what it was like.
func TestANewDispatchIsNotTakenForTheLastOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.added(3)
		s.end(dispatch.Cancelled)
		_, err := s.Read(t.Context(), key, time.Now())
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		<-time.After(time.Millisecond)
		s.added(5)
		_, err = s.Read(t.Context(), key, time.Time{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "the control: what was read is trusted for a moment")
		memo, err := s.Read(t.Context(), key, time.Now())
		require.NoError(t, err)
		require.Equal(t, 5, *memo.Items)
		before := len(s.on.Calls("DescribeWorkflowExecution"))
		_, err = s.Read(t.Context(), key, time.Now().Add(-time.Microsecond))
		require.NoError(t, err)
		require.Len(t, s.on.Calls("DescribeWorkflowExecution"), before, "the shards of one dispatch still share a read")
	})
}
