package waits

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Waits determines what holds attempts up.
type Waits struct {
	policies    *policies.Policies
	emergencies *emergencies.Emergencies
	queues      *queues.Queues

	mu    sync.Mutex
	known map[string]knownQueue
}

// knownQueue is a queue as described a moment ago.
type knownQueue struct {
	policy.Queue
	at time.Time
}

// New returns the Waits of a namespace.
func New(policies *policies.Policies, emergencies *emergencies.Emergencies, queues *queues.Queues) *Waits {
	return &Waits{policies: policies, emergencies: emergencies, queues: queues, known: map[string]knownQueue{}}
}

// Holds returns the possible causes that hold back the attempts of a business type. What
// cannot be read is left out.
func (w *Waits) Holds(ctx context.Context, businessType string) (holds policy.Holds) {
	holds.Policy, _ = w.policies.Cached(ctx, businessType)
	holds.Emergency, _ = w.emergencies.Holding(ctx, businessType)
	return holds
}

// ShowNext adds to an open timer the cause of its next attempt's wait, and the time of that
// attempt.
func (w *Waits) ShowNext(ctx context.Context, view *timer.View, standby policy.Standby) {
	holds, now := w.Holds(ctx, view.BusinessType), time.Now()
	view.Wait, view.NextAttemptAt = holds.WaitOf(standby, now, func() policy.Queue {
		return w.queue(ctx, view.BusinessType, holds.Policy)
	})
	if view.LatestAt != 0 && view.NextAttemptAt >= view.LatestAt {
		view.NextAttemptAt = 0
	}
}

// ShowUntaken adds the cause of the wait to a due timer that no worker has taken.
func (w *Waits) ShowUntaken(ctx context.Context, view *timer.View) {
	if view.Wait = w.Holds(ctx, view.BusinessType).Wait(time.Now()); view.WaitsFor == "" {
		view.WaitsFor = delivery.WaitsForWorker
	}
}

// queue is the queue on which the attempts of a business type wait. A queue that cannot be
// described counts as healthy.
func (w *Waits) queue(ctx context.Context, businessType string, p policy.Policy) policy.Queue {
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
	described, err := w.queues.Describe(ctx, name)
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
