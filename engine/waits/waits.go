package waits

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Waits determines what holds attempts up.
type Waits struct {
	policies    *policies.Policies
	emergencies *emergencies.Emergencies
	queues      *queues.Queues
	processes   Processes

	mu    sync.Mutex
	known map[string]knownQueue
}

// knownQueue is a queue as described a moment ago.
type knownQueue struct {
	policy.Queue
	at time.Time
}

// description is a call that describes a queue.
type description func(ctx context.Context, queue string) (*workflowservice.DescribeTaskQueueResponse, error)

// Processes tells which processes live.
type Processes interface {
	// List returns the processes that give signs of life, with a verdict for each.
	List(ctx context.Context) (health.Processes, error)
}

// New returns the Waits of a namespace.
func New(policies *policies.Policies, emergencies *emergencies.Emergencies, queues *queues.Queues, processes Processes) *Waits {
	return &Waits{policies: policies, emergencies: emergencies, queues: queues, processes: processes, known: map[string]knownQueue{}}
}

// Holds returns the possible causes that hold back the attempts of a business type. It says what
// cannot be read.
func (w *Waits) Holds(ctx context.Context, businessType string) (holds policy.Holds) {
	var err error
	holds.Policy, err = w.policies.Cached(ctx, businessType)
	holds.PolicyUnread = err != nil && wire.CodeOf(err) != wire.NotFound
	holds.Emergency, err = w.emergencies.Holding(ctx, businessType)
	holds.EmergencyUnread = err != nil
	return holds
}

// ShowNext adds to an open timer the cause of its next attempt's wait, and the time of that
// attempt.
func (w *Waits) ShowNext(ctx context.Context, view *timer.View, standby policy.Standby) {
	holds, now := w.Holds(ctx, view.BusinessType), time.Now()
	var asked policy.Queue
	view.Wait, view.NextAttemptAt = holds.WaitOf(standby, now, func() policy.Queue {
		asked = w.queue(ctx, view.BusinessType, holds.Policy)
		return asked
	})
	if view.LatestAt != 0 && view.NextAttemptAt >= view.LatestAt {
		view.NextAttemptAt = 0
	}
	view.Circumstances = circumstances(holds, asked)
	view.Circumstances.Others = holds.Others(standby, now)
}

// ShowUntaken adds the cause of the wait to a due timer that no worker has taken. Only one that is
// queued waits for a worker: another one was not handed out by Temporal.
func (w *Waits) ShowUntaken(ctx context.Context, view *timer.View, queued bool) {
	holds, asked, now := w.Holds(ctx, view.BusinessType), policy.Queue{}, time.Now()
	if view.Wait = holds.Wait(now); view.WaitsFor == "" && queued {
		view.WaitsFor = delivery.WaitsForWorker
		asked.LastPoll = w.describe(ctx, workflows.TaskQueue, w.queues.DescribeFirst).LastPoll
	}
	view.Circumstances = circumstances(holds, asked)
	view.Circumstances.Others = holds.Others(policy.Standby{}, now)
}

// ShowStopped adds to a timer whose attempt is under way everything that stops the callbacks of its type: an
// emergency, a pause, and back-pressure. The attempt has passed the limit.
func (w *Waits) ShowStopped(ctx context.Context, view *timer.View) {
	holds, now := w.Holds(ctx, view.BusinessType), time.Now()
	c := circumstances(holds, policy.Queue{})
	view.Circumstances.AllPaused, view.Circumstances.Unread = c.AllPaused, c.Unread
	stops := append([]delivery.Wait{holds.Wait(now)}, holds.Others(policy.Standby{}, now)...)
	stops = slices.DeleteFunc(stops, func(one delivery.Wait) bool {
		return one.WaitsFor == "" || one.WaitsFor == delivery.WaitsForLimit
	})
	if len(stops) > 0 {
		view.Circumstances.Stopped, view.Circumstances.Others = stops[0], stops[1:]
	}
}

// circumstances are what was learned on the way to the cause of a wait. A queue that was not asked
// for tells nothing.
func circumstances(holds policy.Holds, q policy.Queue) (c timer.Circumstances) {
	c.LastPoll = q.LastPoll
	c.AllPaused = holds.Emergency != nil && holds.Emergency.Everything
	if rate := holds.Policy.Limits.CallbacksPerSecond; rate != nil && *rate > 0 && q.Polled {
		c.Queued, c.PerSecond = max(q.Backlog, 1), *rate
	}
	for source, failed := range map[timer.ReasonSource]bool{
		timer.FromEmergency: holds.EmergencyUnread, timer.FromPolicy: holds.PolicyUnread, timer.FromWorker: q.Unread,
	} {
		if failed {
			c.Unread = append(c.Unread, source)
		}
	}
	slices.Sort(c.Unread)
	return c
}

// queue is the queue on which the attempts of a business type wait.
func (w *Waits) queue(ctx context.Context, businessType string, p policy.Policy) policy.Queue {
	name := workflows.DefaultDeliveryQueue
	switch {
	case p.Callback.Stream:
		name = workflows.StreamQueue(businessType)
	case p.Version != 0:
		name = workflows.DeliveryQueue(businessType)
	}
	return w.describe(ctx, name, w.queues.Describe)
}

// describe describes a queue, or returns what was described a moment ago.
func (w *Waits) describe(ctx context.Context, name string, by description) policy.Queue {
	w.mu.Lock()
	known := w.known[name]
	w.mu.Unlock()
	if time.Since(known.at) < tuning.QueueTrusted {
		return known.Queue
	}
	described, err := by(ctx, name)
	if err != nil {
		return policy.Queue{Unread: true}
	}
	known = knownQueue{w.queueOf(ctx, described), time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) >= tuning.CachedPolicies {
		clear(w.known)
	}
	w.known[name] = known
	return known.Queue
}

// queueOf reads the description of a queue. A poll outlasts its worker by a minute, so the worker's
// sign of life decides.
func (w *Waits) queueOf(ctx context.Context, described *workflowservice.DescribeTaskQueueResponse) policy.Queue {
	q := policy.Queue{Backlog: int(described.GetStats().GetApproximateBacklogCount())}
	var polling []string
	for _, poller := range described.GetPollers() {
		if strings.HasSuffix(poller.GetIdentity(), workflows.Drains) {
			continue
		}
		at := poller.GetLastAccessTime().AsTime()
		q.LastPoll = max(q.LastPoll, wire.At(at))
		if time.Since(at) < tuning.PollLasts {
			polling = append(polling, identity.Process(poller.GetIdentity()))
		}
	}
	q.Polled = len(polling) > 0 && (q.Backlog == 0 || w.anyLives(ctx, polling))
	return q
}

// anyLives reports whether one of several processes lives, or may live: not every Temporal keeps
// signs of life. One that has stopped gives none any more.
func (w *Waits) anyLives(ctx context.Context, processes []string) bool {
	listed, err := w.processes.List(ctx)
	if err != nil {
		return true
	}
	if !listed.Whole() {
		return true
	}
	return slices.ContainsFunc(listed.Processes, func(p health.Process) bool {
		return p.State != health.Silent && slices.Contains(processes, p.ID)
	})
}
