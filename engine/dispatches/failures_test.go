package dispatches

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/workflows"
)

// gaveUp has a shard store pages of items that were given up, so many on each.
func (s *fixture) gaveUp(shard int, sizes ...int) dispatch.Part {
	s.t.Helper()
	memo := s.memo()
	part := dispatch.GivenUp(workflows.DispatchPages(memo, shard))
	for number, size := range sizes {
		require.NoError(s.t, s.WritePage(s.t.Context(), part.Page(number), dispatch.Page{Items: items(size)}, time.Hour))
	}
	part.Pages = len(sizes)
	return part
}

// failures are the items that were given up, by the webhook ids that they had.
func (s *fixture) failures() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	require.NoError(s.t, s.Failures(s.t.Context(), key, func(failure dispatch.Failure) error {
		found[failure.WebhookID] = failure.ID
		return nil
	}))
	return found
}

// The items that were given up are shown while a dispatch runs and after it.
func TestFailuresAreShown(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.Equal(t, wire.NotFound, wire.CodeOf(s.Failures(t.Context(), key, nil)))
	s.added(3)
	require.Empty(t, s.failures(), "it has not begun")
	s.run(2)
	part := s.gaveUp(1, 2)
	s.shard(1, dispatch.State{GivenUp: 1})
	require.Len(t, s.failures(), 2)
	s.end(dispatch.DoneWithFailures, part)
	shown := s.failures()
	require.Len(t, shown, 2)
	for _, one := range items(2) {
		require.Equal(t, one.ID, shown[s.memo().ID().ItemID(one)])
	}
	enough := errors.New("enough")
	require.ErrorIs(t, s.Failures(t.Context(), key, func(dispatch.Failure) error { return enough }), enough)
}

// The items are tried again once, under the ids that they had.
func TestFailuresAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := s.added(3)
	s.run(1)
	part := s.gaveUp(0, 2, 1)
	_, _, err := s.RetryFailures(t.Context(), key)
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "it runs")
	before := s.memo().ID()
	s.end(dispatch.DoneWithFailures, part)

	view, retried, err := s.RetryFailures(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, 3, retried)
	require.Equal(t, dispatch.Scheduled, view.Status)
	require.Equal(t, 1, s.memo().Round)
	require.Equal(t, before, s.memo().ID(), "the ids of the messages")
	require.Equal(t, first.Memo.Run, s.memo().Run)
	require.Equal(t, 2, s.on.RunsOf(id))
	require.Equal(t, 2, s.on.RunsOf(part.Page(0)), "its pages are kept for as long as it takes")
	_, _, err = s.RetryFailures(t.Context(), key)
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "it runs again")
}

// A dispatch that says that it has ended may still be closing the pages of its failed items. They are
// stored again after that, and stay open.
func TestFailuresAreTriedAgainWhileTheDispatchClearsAway(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(3)
	s.run(1)
	part := s.gaveUp(0, 2)
	s.change(func(memo *dispatch.Memo) {
		memo.Status, memo.FinishedAt, memo.Failed = dispatch.Done, wire.At(time.Now()), []dispatch.Part{part}
		memo.Total = &dispatch.Counts{Found: 3, Done: 1, Failed: 2}
	})
	s.on.Before = func(call enginetest.Call) error {
		if call.Name != "GetWorkflow" {
			return nil
		}
		s.on.Before = nil
		require.NoError(t, s.CleanUp(t.Context(), dispatch.Cleanup{Close: []dispatch.Part{part}}, func() {}))
		s.worker.Close(id, nil)
		return nil
	}
	_, retried, err := s.RetryFailures(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, 2, retried)
	described, err := s.on.DescribeWorkflowExecution(t.Context(), part.Page(0), "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, described.GetWorkflowExecutionInfo().GetStatus())
}

// A recurring dispatch that was cancelled between two occurrences has the failed items of the last
// one, and they are tried again.
func TestFailuresOfTheLastOccurrenceAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(3)
	s.run(1)
	part := s.gaveUp(0, 2)
	before := s.memo().ID()
	s.change(func(memo *dispatch.Memo) {
		end := dispatch.End{Occurrence: memo.Occurrence, Done: 1, Failed: 2, StartedAt: memo.StartedAt, FinishedAt: memo.StartedAt}
		memo.Last = &dispatch.Occurrence{End: end, Pages: []dispatch.Part{part}}
		memo.Occurrence, memo.StartedAt = memo.Occurrence+1, 0
	})
	s.end(dispatch.Cancelled)
	require.Len(t, s.failures(), 2)
	_, retried, err := s.RetryFailures(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, 2, retried)
	require.Equal(t, before, s.memo().ID(), "the ids of the messages")
}

func TestWhenThereIsNothingToTryAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state func(s *fixture)
		code  wire.Code
	}{
		"no dispatch":    {func(*fixture) {}, wire.NotFound},
		"it is uploaded": {func(s *fixture) { s.opened() }, wire.Overtaken},
		"none failed":    {func(s *fixture) { s.added(3); s.end(dispatch.Done) }, wire.AlreadyFinished},
		"it is being cancelled": {func(s *fixture) {
			s.added(3)
			s.away()
			require.NoError(t, s.on.CancelWorkflow(t.Context(), id, ""))
		}, wire.CancelPending},
		"the items are forgotten": {func(s *fixture) {
			s.added(3)
			s.end(dispatch.DoneWithFailures, dispatch.Part{Prefix: "gone/", Pages: 1})
		}, wire.NotFound},
		"somebody was quicker": {func(s *fixture) {
			s.added(3)
			s.end(dispatch.DoneWithFailures, s.gaveUp(0, 1))
			s.on.Before = once(func() {
				_, _, err := s.RetryFailures(t.Context(), key)
				require.NoError(t, err)
			})
		}, wire.Overtaken},
		"Temporal is away": {func(s *fixture) {
			s.added(3)
			s.end(dispatch.DoneWithFailures, s.gaveUp(0, 1))
			s.on.Refuse("ExecuteWorkflow", id, errors.New("down"))
		}, wire.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c.state(s)
			_, _, err := s.RetryFailures(t.Context(), key)
			require.Equal(t, c.code, wire.CodeOf(err))
		})
	}
}
