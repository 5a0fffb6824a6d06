package engine

import (
	"context"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// waits tell what holds attempts up.
type waits struct {
	policies    *Policies
	emergencies *Emergencies
	queues      *Queues

	mu    sync.Mutex
	known map[string]knownQueue
}

// knownQueue is a queue as it was a moment ago.
type knownQueue struct {
	policy.Queue
	at time.Time
}

func newWaits(queues *Queues, emergencies *Emergencies) *waits {
	return &waits{policies: queues.policies, emergencies: emergencies, queues: queues, known: map[string]knownQueue{}}
}

// of is what may hold back the attempts of a business type. What cannot be read does not.
func (w *waits) of(ctx context.Context, businessType string) (holds policy.Holds) {
	holds.Policy, _ = w.policies.cached(ctx, businessType)
	holds.Emergency, _ = w.emergencies.holding(ctx, businessType)
	return holds
}

// show adds to an open timer what its next attempt waits for, and when it is made.
func (w *waits) show(ctx context.Context, view *timer.View, standby policy.Standby) {
	holds, now := w.of(ctx, view.BusinessType), time.Now()
	view.Wait, view.NextAttemptAt = holds.WaitOf(standby, now, func() policy.Queue {
		return w.queue(ctx, view.BusinessType, holds.Policy)
	})
	if view.LatestAt != 0 && view.NextAttemptAt >= view.LatestAt {
		view.NextAttemptAt = 0
	}
}

// showUntaken adds to a timer that is due and that no worker has taken what it waits for.
func (w *waits) showUntaken(ctx context.Context, view *timer.View) {
	if view.Wait = w.of(ctx, view.BusinessType).Wait(time.Now()); view.WaitsFor == "" {
		view.WaitsFor = delivery.WaitsForWorker
	}
}

// queue is the queue on which the attempts of a business type wait. One that cannot be
// described is taken for one that nothing is wrong with.
func (w *waits) queue(ctx context.Context, businessType string, p policy.Policy) policy.Queue {
	name := workflows.DefaultDeliveryQueue
	switch {
	case p.Callback.Stream:
		name = workflows.StreamQueue(businessType)
	case p.Version != 0:
		name = workflows.DeliveryQueue(businessType)
	}
	w.mu.Lock()
	known := w.known[name]
	w.mu.Unlock()
	if time.Since(known.at) < tuning.QueueTrusted {
		return known.Queue
	}
	described, err := w.queues.describeQueue(ctx, name)
	if err != nil {
		return policy.Queue{Polled: true}
	}
	known = knownQueue{queueOf(described), time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) >= tuning.CachedPolicies {
		clear(w.known)
	}
	w.known[name] = known
	return known.Queue
}

func queueOf(described *workflowservice.DescribeTaskQueueResponse) policy.Queue {
	q := policy.Queue{Backlog: int(described.GetStats().GetApproximateBacklogCount())}
	for _, poller := range described.GetPollers() {
		fresh := time.Since(poller.GetLastAccessTime().AsTime()) < tuning.PollLasts
		q.Polled = q.Polled || fresh && !strings.HasSuffix(poller.GetIdentity(), workflows.Drains)
	}
	return q
}

// standbyOf is the attempt of a pending activity that has not begun. ok is false for one
// that has.
func standbyOf(pending *workflowpb.PendingActivityInfo) (standby policy.Standby, ok bool) {
	if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
		return standby, false
	}
	standby.NotBefore = nextAttempt(pending)
	if report, told := recordedIn(pending); told {
		standby.Cause = report.Waits
	}
	return standby, true
}
