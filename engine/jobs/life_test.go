package jobs

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// A job lives from its order to its end, and what it counted is told then.
func TestTheLifeOfAJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		on := &enginetest.Temporal{}
		k := kernel.New(on, "default", "")
		t.Cleanup(k.EndWaits)
		kind := Kind[job.Bulk]{
			JobKind: workflows.BulkJob, Noun: BulkNoun,
			Settle:  func(order job.Bulk, now wire.Instant) job.Bulk { return order.AsOf(now) },
			Summary: func(job.Bulk) string { return "an order" },
			Named:   func(id string) bool { return id != "no id" },
		}
		jobs := New[job.Bulk, job.BulkProgress](k, kind)
		order := job.Bulk{ID: "1", Operation: job.Redeliver, Filter: timer.Filter{BusinessType: "order"}, PerSecond: 10}

		wrong := order
		wrong.PerSecond = -1
		_, err := jobs.Start(t.Context(), wrong)
		require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
		started, err := jobs.Start(t.Context(), order)
		require.NoError(t, err)
		require.Equal(t, job.Running, started.Status)
		require.NotZero(t, started.Order.Filter.EndedTo, "what fails after the order is not part of it")

		began := time.Now()
		stopping, err := jobs.Stop(t.Context(), started.ID, 3*time.Second)
		require.NoError(t, err)
		require.True(t, stopping.CancelRequested, "no worker has heard of it")
		require.Equal(t, 3*time.Second, time.Since(began))

		enginetest.Worker{On: on}.Close(kind.WorkflowID(started.ID), job.BulkProgress{Tally: job.Tally{Done: 7}})
		ended, err := jobs.Get(t.Context(), started.ID)
		require.NoError(t, err)
		require.Equal(t, job.Done, ended.Status)
		require.Equal(t, 7, ended.Counts.Done)
		stopped, err := jobs.Stop(t.Context(), started.ID, 0)
		require.NoError(t, err)
		require.Equal(t, ended, stopped, "it stays as it is")

		for status, want := range map[job.Status]int{"": 1, job.Done: 1, job.Running: 0} {
			page, _, err := jobs.List(t.Context(), Request{Status: status, Size: 10})
			require.NoError(t, err)
			require.Len(t, page, want)
		}
		_, err = jobs.Get(t.Context(), "no id")
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
	})
}
