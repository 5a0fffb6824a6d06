package worker

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// typeQueues is a Temporal with the type invoice, whose policy was deleted.
type typeQueues struct {
	listedPolicies
	registered       workflows.Registered
	needed, outlived bool
	err              error
	asked            int
}

func (q *typeQueues) Registered(context.Context) (workflows.Registered, error) {
	return q.registered, nil
}

func (q *typeQueues) Needed(context.Context, string) (bool, error) {
	q.asked++
	return q.needed, q.err
}

func (q *typeQueues) Outlived(context.Context, string) (bool, error) { return q.outlived, nil }

// stoppable is a worker that reports its stop.
type stoppable struct {
	sdkworker.Worker
	stopped chan struct{}
}

func (s stoppable) Stop() { close(s.stopped) }

// polled is a worker process that polls the queue of a type.
func polled(queues *typeQueues) (*queueWorkers, stoppable) {
	q := newQueueWorkers(Options{Queues: queues, Observer: queues})
	w := stoppable{stopped: make(chan struct{})}
	q.types["invoice"] = &typeWorker{worker: w, slots: newTypeSlots(1)}
	return q, w
}

// looks has the policies read until n checks for unneeded types were made.
func looks(t *testing.T, q *queueWorkers, n int) (err error) {
	t.Helper()
	for range n * tuning.RetireRounds {
		err = errors.Join(err, q.readAll(t.Context()))
	}
	return err
}

func TestWhatNothingNeedsIsNotPolled(t *testing.T) {
	t.Parallel()
	queues := &typeQueues{registered: workflows.Registered{"invoice": 5}}
	queues.deleted = []policy.Policy{{BusinessType: "invoice", Version: 2}}
	q, w := polled(queues)
	require.NoError(t, looks(t, q, 1))
	require.True(t, q.serves("invoice"), "once may be chance")
	require.NoError(t, looks(t, q, 1))
	<-w.stopped
	require.NoError(t, looks(t, q, 2))
	require.False(t, q.serves("invoice"), "the list of what was deleted brings nothing back")
	require.NoError(t, q.readRetired(t.Context()))
	require.False(t, q.serves("invoice"))
	require.True(t, q.retired.hasSince("invoice", 5))
	require.False(t, q.retired.hasSince("invoice", 6), "what is registered again is polled again")
}

// Any possible need keeps the worker, and restarts the count.
func TestWhatIsNeededIsPolled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*typeQueues)
		failing bool
	}{
		"it is in force, or has a backlog": {change: func(q *typeQueues) { q.needed = true }},
		"a timer of it is open":            {change: func(q *typeQueues) { q.outlived = true }},
		"Temporal does not tell":           {change: func(q *typeQueues) { q.err = context.DeadlineExceeded }, failing: true},
		"it was registered again":          {change: func(q *typeQueues) { q.registered = workflows.Registered{"invoice": 6} }},
		"it is listed": {change: func(q *typeQueues) {
			q.inForce, q.deleted = []policy.Policy{{BusinessType: "invoice", Version: 3}}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queues := &typeQueues{registered: workflows.Registered{"invoice": 5}}
			queues.deleted = []policy.Policy{{BusinessType: "invoice", Version: 2}}
			q, _ := polled(queues)
			require.NoError(t, looks(t, q, 1))
			c.change(queues)
			require.Equal(t, c.failing, looks(t, q, 1) != nil)
			require.True(t, q.serves("invoice"))
		})
	}
}

// Unannounced attempts are found, and rarely searched for.
func TestWhatIsRetiredIsLookedAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queues := &typeQueues{registered: workflows.Registered{"invoice": 5}}
		q := newQueueWorkers(Options{Queues: queues, Observer: queues})
		for range tuning.RetireLooks {
			q.retired.record("invoice", 5, false)
		}
		require.NoError(t, q.readRetired(t.Context()))
		require.Zero(t, queues.asked)
		time.Sleep(tuning.RetiredRest) //nolint:forbidigo // synctest's
		require.NoError(t, q.readRetired(t.Context()))
		require.NoError(t, q.readRetired(t.Context()))
		require.Equal(t, 1, queues.asked)
		require.True(t, q.retired.has("invoice"))
		queues.registered = nil
		time.Sleep(tuning.RetiredRest) //nolint:forbidigo // synctest's
		require.NoError(t, q.readRetired(t.Context()))
		require.False(t, q.retired.has("invoice"), "what nobody knows any more is forgotten")
	})
}

// If more types were deleted than one check covers, all have their turn.
func TestTypesTakeTurns(t *testing.T) {
	t.Parallel()
	var types []string
	for i := range 2*tuning.RetireChecked + 1 {
		types = append(types, strconv.Itoa(i))
	}
	r, seen := newRetired(), map[string]bool{}
	for range 3 {
		for _, businessType := range r.nextTurn(types) {
			seen[businessType] = true
		}
	}
	require.Len(t, seen, len(types))
}
