package canary

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Step is a step of a beat.
type Step string

// The steps, in their order.
const (
	StepBook   Step = "book"
	StepClock  Step = "clock"
	StepRing   Step = "ring"
	StepRecord Step = "record"
	StepList   Step = "list"
)

// Steps are all steps, in their order.
var Steps = []Step{StepBook, StepClock, StepRing, StepRecord, StepList}

// StepNames are the names of all steps, in their order.
func StepNames() (names []string) {
	for _, step := range Steps {
		names = append(names, string(step))
	}
	return names
}

// Beat is what one timer of the canary showed. The zero value is no beat.
type Beat struct {
	// At is when it began.
	At time.Time
	// Failed is the first step that did not work, or took too long; empty if all is well. Why
	// says what was seen.
	Failed Step
	Why    string
	// Held reports whether an operator has paused all callbacks. The beat was left out.
	Held bool
	// Took has how long each step took that was made. Of a ring it is the lateness.
	Took map[Step]time.Duration
}

// taken is the canary's answer to each ring.
var taken = delivery.Answer{Delivered: true}

// measurement is a beat under way.
type measurement struct {
	*Canary
	beat Beat
	spec timer.Spec
	run  client.WorkflowRun
}

// measure makes one beat, in less than 30 s.
func (c *Canary) measure(ctx context.Context, rings <-chan ring) Beat {
	m := &measurement{Canary: c, beat: Beat{At: time.Now(), Took: map[Step]time.Duration{}}}
	if m.beat.Held = c.held(ctx); m.beat.Held {
		return m.beat
	}
	defer m.delete(ctx)
	for _, step := range []struct {
		name  Step
		limit time.Duration
		do    func(context.Context) error
	}{
		{StepBook, tuning.CanaryBook, m.book},
		{StepClock, tuning.CanaryBook, m.compareClocks},
		{StepRing, tuning.CanaryDelay + tuning.CanaryRing, func(ctx context.Context) error { return m.awaitRing(ctx, rings) }},
		{StepRecord, tuning.CanaryRecord, m.awaitRecord},
		{StepList, tuning.CanaryList, m.awaitListed},
	} {
		within, cancel := context.WithTimeout(ctx, step.limit)
		began := time.Now()
		err := step.do(within)
		cancel()
		if _, measured := m.beat.Took[step.name]; !measured && err == nil {
			m.beat.Took[step.name] = time.Since(began)
		}
		if err != nil {
			m.fail(ctx, step.name, err)
			break
		}
	}
	return m.beat
}

// fail notes the step that failed. A timer that an operator has paused meanwhile does not ring, which is
// no fault.
func (m *measurement) fail(ctx context.Context, step Step, err error) {
	if m.beat.Held = step == StepRing && m.held(ctx); !m.beat.Held {
		m.beat.Failed, m.beat.Why = step, err.Error()
	}
}

// held reports whether all callbacks are paused. What cannot be read holds nothing: the beat
// will show it.
func (c *Canary) held(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, tuning.CanaryBook)
	defer cancel()
	emergency, err := c.Emergencies.Holding(ctx, c.key.BusinessType)
	return err == nil && emergency != nil
}

// book starts the workflow of a timer. One that an earlier beat left open is ended.
func (m *measurement) book(ctx context.Context) (err error) {
	delay := wire.Duration(tuning.CanaryDelay)
	named := wire.Key{BusinessType: "canary", BusinessID: m.key.BusinessID} // callers cannot name its own key
	m.spec, err = timer.Admit(named, timer.Terms{Delay: &delay}, uuid.NewString(), m.beat.At)
	if err != nil {
		return err
	}
	m.spec.Key, m.spec.Behaviour = m.key, workflows.BehaviourNow
	m.run, err = m.Kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: m.key.String(), TaskQueue: workflows.TaskQueue,
		StartDelay:               workflows.StartDelay(m.spec.Memo, time.Now()),
		WorkflowExecutionTimeout: tuning.CanaryLife,
		WorkflowTaskTimeout:      workflows.TaskTimeout(m.spec.Memo),
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
		Memo:                     map[string]any{workflows.MemoTimer: m.spec.Memo},
		StaticSummary:            "Wakecall's canary",
	}, workflows.TypeCanary, m.spec, workflows.Encode(nil))
	if err != nil {
		return fmt.Errorf("a timer could not be booked: %w", err)
	}
	return nil
}

// compareClocks compares the time at which Temporal says that the run began.
func (m *measurement) compareClocks(ctx context.Context) error {
	described, err := m.Kernel.Client.DescribeWorkflowExecution(ctx, m.key.String(), m.run.GetRunID())
	if err != nil {
		return fmt.Errorf("the booked timer could not be read: %w", err)
	}
	fault := kernel.DescribeClock(m.beat.At, described.GetWorkflowExecutionInfo().GetStartTime().AsTime(), time.Now())
	if fault != "" {
		return errors.New(fault)
	}
	return nil
}

// awaitRing waits for the ring of this beat. The bookings before it may have been slow: the limit
// is that of its lateness.
func (m *measurement) awaitRing(ctx context.Context, rings <-chan ring) error {
	ctx, cancel := context.WithDeadline(ctx, m.spec.DueAt.Time().Add(tuning.CanaryRing))
	defer cancel()
	for {
		select {
		case got := <-rings:
			if got.webhookID == m.spec.WebhookID() {
				m.beat.Took[StepRing] = got.at.Sub(m.spec.DueAt.Time())
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("a timer did not ring within %s of its due time: %s", tuning.CanaryRing, m.missingPoller(ctx))
		}
	}
}

// missingPoller names a queue without a poller. It explains a ring that did not come.
func (m *measurement) missingPoller(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tuning.CanaryBook)
	defer cancel()
	for _, queue := range []struct {
		name string
		kind enumspb.TaskQueueType
	}{
		{workflows.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW},
		{workflows.StreamQueue(m.key.BusinessType), enumspb.TASK_QUEUE_TYPE_ACTIVITY},
	} {
		described, err := m.Kernel.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: m.Kernel.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue.name}, TaskQueueType: queue.kind,
		})
		if err != nil {
			return "the queue " + queue.name + " could not be read: " + err.Error()
		}
		if !polledSince(described.GetPollers(), m.beat.At) {
			return "no process polls the queue " + queue.name
		}
	}
	return "the queues are polled"
}

func polledSince(pollers []*taskqueuepb.PollerInfo, since time.Time) bool {
	for _, poller := range pollers {
		if !poller.GetLastAccessTime().AsTime().Before(since.Add(-tuning.CanaryInterval)) {
			return true
		}
	}
	return false
}

// awaitRecord waits until Temporal has recorded the ring.
func (m *measurement) awaitRecord(ctx context.Context) error {
	var outcome timer.Outcome
	if err := m.run.Get(ctx, &outcome); err != nil {
		return fmt.Errorf("a ring was not recorded: %w", err)
	}
	if outcome.Status != timer.Delivered {
		return fmt.Errorf("a ring was recorded as %s", outcome.Status)
	}
	return nil
}

// awaitListed waits until visibility shows the end of the run.
func (m *measurement) awaitListed(ctx context.Context) error {
	ended := query.All(
		query.WorkflowID.Is(m.key.String()), query.WorkflowType.Is(workflows.TypeCanary),
		query.StartTime.From(wire.At(m.beat.At.Add(-tuning.ClockTolerance))),
		query.Status(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED),
	)
	poll := time.NewTicker(tuning.CanaryPoll)
	defer poll.Stop()
	for {
		found, err := m.Kernel.Count(ctx, ended)
		if err == nil && found > 0 {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("visibility does not answer: %w", err)
			}
			return errors.New("visibility does not show a timer that has ended")
		}
	}
}

// delete deletes the run. One that is left over ends by its timeout, and Temporal deletes it
// after the retention.
func (m *measurement) delete(ctx context.Context) {
	if m.run == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tuning.CanaryBook)
	defer cancel()
	_, _ = m.Kernel.Client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace:         m.Kernel.Namespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: m.key.String(), RunId: m.run.GetRunID()},
	})
}
