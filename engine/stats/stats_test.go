package stats

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/registry"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// crowd has timers of types order and invoice in several states.
func crowd(t *testing.T) (*Stats, *enginetest.Temporal) {
	t.Helper()
	on := &enginetest.Temporal{}
	worker := enginetest.Worker{On: on}
	book := func(businessType string, n int) (ids []string) {
		for i := range n {
			id := businessType + "/" + strconv.Itoa(on.RunsOf("")+i)
			_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
				ID: id, TypedSearchAttributes: temporal.NewSearchAttributes(
					workflows.AttrBusinessType.ValueSet(businessType), workflows.AttrDueAt.ValueSet(time.Now()),
				),
			}, workflows.TypeTimer)
			require.NoError(t, err)
			ids = append(ids, id)
		}
		return ids
	}
	orders := book("order", 6)
	book("invoice", 2)
	worker.State(t, orders[0], timer.Delivering)
	worker.State(t, orders[1], timer.Paused)
	worker.Deliver(orders[2])
	worker.State(t, orders[3], timer.Expired)
	worker.Deliver(orders[3])
	worker.Fail(orders[4])
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	for _, businessType := range []string{"order", "invoice"} {
		require.NoError(t, registry.New(k).Apply(t.Context(), workflows.Registered{"order": 1, "invoice": 1}, workflows.Registration{Add: []string{businessType}}))
	}
	return New(k), on
}

func TestCounts(t *testing.T) {
	t.Parallel()
	s, _ := crowd(t)
	orders := timer.StatusCounts{Scheduled: 1, Delivering: 1, Paused: 1, Delivered: 1, Expired: 1, Failed: 1}
	counted, err := s.Count(t.Context(), "order")
	require.NoError(t, err)
	require.Equal(t, orders, counted.Timers)

	counted, err = s.Count(t.Context(), "")
	require.NoError(t, err)
	all := orders
	all.Scheduled += 2
	require.Equal(t, all, counted.Timers)
	require.Equal(t, []timer.TypeStats{{BusinessType: "invoice", Timers: timer.StatusCounts{Scheduled: 2}}, {BusinessType: "order", Timers: orders}}, counted.BusinessTypes)

	counted, err = s.Count(t.Context(), "unknown")
	require.NoError(t, err)
	require.Zero(t, counted.Timers)
}

// A timer that failed and was tried again counts by its last run, whether Temporal still has the failed
// run or not.
func TestCountsOfRedeliveredTimers(t *testing.T) {
	t.Parallel()
	for name, forgotten := range map[string][]string{
		"kept":           nil,
		"deleted":        {"again/delivered", "again/failed", "again/open"},
		"one is deleted": {"again/failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, on := crowd(t)
			redeliver(t, on, forgotten)
			want := timer.StatusCounts{Scheduled: 2, Delivered: 1, Failed: 3}
			counted, err := s.Count(t.Context(), "again")
			require.NoError(t, err)
			require.Equal(t, want, counted.Timers)
			counted, err = s.Count(t.Context(), "")
			require.NoError(t, err)
			require.Equal(t, 1+want.Failed, counted.Timers.Failed)
		})
	}
}

// redeliver adds five failed timers of type again. Three are tried again: one is delivered, one fails once
// more, one is open. The id of another is booked again. The failed runs of the forgotten ones are deleted.
func redeliver(t *testing.T, on *enginetest.Temporal, forgotten []string) {
	t.Helper()
	worker := enginetest.Worker{On: on}
	begin := func(id string, memo timer.Memo, labels ...string) (runID string) {
		memo.DueAt, memo.CreatedAt = wire.At(time.Now()), wire.At(time.Now())
		run, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: id, Memo: map[string]any{workflows.MemoTimer: memo}, TypedSearchAttributes: temporal.NewSearchAttributes(
				workflows.AttrBusinessType.ValueSet("again"), workflows.AttrLabels.ValueSet(labels), workflows.AttrDueAt.ValueSet(time.Now()),
			),
		}, workflows.TypeTimer)
		require.NoError(t, err)
		return run.GetRunID()
	}
	failed := map[string]string{}
	for _, id := range []string{"again/left", "again/delivered", "again/failed", "again/open", "again/booked"} {
		failed[id] = begin(id, timer.Memo{Booking: id}, "a=1")
		worker.Fail(id)
	}
	begin("again/booked", timer.Memo{Booking: "another"}, "redelivery=1")
	for _, id := range []string{"again/delivered", "again/failed", "again/open"} {
		begin(id, timer.Memo{Booking: id, Round: 1}, timer.KeywordRedelivery, "a=1")
	}
	worker.Deliver("again/delivered")
	worker.Fail("again/failed")
	for _, id := range forgotten {
		_, err := on.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
			WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: failed[id]},
		})
		require.NoError(t, err)
	}
}

// Types without a policy are counted one by one if they are named.
func TestCountsOfFurtherTypes(t *testing.T) {
	t.Parallel()
	s, on := crowd(t)
	_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "bare/1", TypedSearchAttributes: temporal.NewSearchAttributes(workflows.AttrBusinessType.ValueSet("bare")),
	}, workflows.TypeTimer)
	require.NoError(t, err)
	with, err := s.Count(t.Context(), "")
	require.NoError(t, err)
	all := with.BusinessTypes
	require.Len(t, all, 2)
	with, err = s.CountWith(t.Context(), []string{"bare", "invoice", "unheard"})
	require.NoError(t, err)
	require.Equal(t, []timer.TypeStats{
		{BusinessType: "bare", Timers: timer.StatusCounts{Scheduled: 1}}, all[0], all[1], {BusinessType: "unheard"},
	}, with.BusinessTypes)
}

// An answer is given again for a moment, and no longer.
func TestCountsAreTrustedForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, on := crowd(t)
		_, err := s.Count(t.Context(), "order")
		require.NoError(t, err)
		on.Err = errors.New("down")
		_, err = s.Count(t.Context(), "order")
		require.NoError(t, err)
		<-time.After(tuning.StatsTrusted)
		_, err = s.Count(t.Context(), "order")
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	})
}

func TestACountThatNobodyWaitsForAnyMore(t *testing.T) {
	t.Parallel()
	s, _ := crowd(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Count(gone, "order"); err != nil { // the answer may come first
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	}
}
