package namespace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Finding is the result of one startup check of Temporal.
type Finding struct {
	// Check is one of partitions, id-reuse, fairness, retention, clock, freeing, signs and
	// polls.
	Check string
	// Wrong says in one line what is wrong and what to change; it is empty if all is well.
	Wrong string
	// Unknown is why the check failed to run, or nil.
	Unknown error
}

// CheckStart checks whether Temporal is configured as Wakecall needs it, as far as a client
// without administrator rights can see it. It asks where Temporal answers. Otherwise it starts
// workflows, observes them, and deletes them again (docs/decisions/0020-start-checks.md).
func (n *Namespace) CheckStart(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, tuning.StartCheckTimeout)
	defer cancel()
	t := &startupCheck{kernel: n.kernel, queue: workflows.CheckQueue(uuid.NewString())}
	defer t.clean(ctx)
	findings := []Finding{}
	note := func(check, wrong string, unknown error) {
		findings = append(findings, Finding{Check: check, Wrong: wrong, Unknown: unknown})
	}
	wrong, unknown := n.checkRetention(ctx)
	note("retention", wrong, unknown)
	partitions, unknown := n.partitions(ctx)
	note("partitions", describePartitions(partitions), unknown)
	wrong, unknown = t.clock(ctx)
	note("clock", wrong, unknown)
	wrong, unknown = t.reuse(ctx)
	note("id-reuse", wrong, unknown)
	if partitions == 1 {
		wrong, unknown = t.fairness(ctx)
	} else {
		wrong, unknown = "", errManyPartitions
	}
	note("fairness", wrong, unknown)
	held := &startupCheck{kernel: n.kernel, queue: t.queue + "-held"}
	defer held.clean(ctx)
	wrong, unknown = lacking(notFreeing, held.freeing)(ctx)
	note("freeing", wrong, unknown)
	wrong, unknown = lacking(notSigning, held.signs)(ctx)
	note("signs", wrong, unknown)
	polled := &startupCheck{kernel: n.kernel, queue: t.queue + "-polled"}
	wrong, unknown = lacking(notEndingPolls, polled.polls)(ctx)
	note("polls", wrong, unknown)
	return findings
}

// errManyPartitions is why the order of a queue cannot be checked.
var errManyPartitions = errors.New("a queue keeps its order only with one partition")

func (n *Namespace) checkRetention(ctx context.Context) (wrong string, unknown error) {
	namespace, err := n.kernel.Client.WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: n.kernel.Namespace})
	if err != nil {
		return "", err
	}
	kept := namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	if kept >= timer.MaxPast {
		return "", nil
	}
	return fmt.Sprintf("the namespace %s keeps finished timers for %s, and a due time may lie %s ago: "+
		"a late repeat of a booking rings twice; set its retention to %[3]s or more",
		n.kernel.Namespace, wire.Duration(kept), wire.Duration(timer.MaxPast)), nil
}

// partitions is the number of partitions of a queue whose rate a policy may limit.
func (n *Namespace) partitions(ctx context.Context) (count int, unknown error) {
	listed, err := n.kernel.Client.WorkflowService().ListTaskQueuePartitions(ctx, &workflowservice.ListTaskQueuePartitionsRequest{
		Namespace: n.kernel.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.DeliveryQueue("check")},
	})
	if err != nil {
		return 0, err
	}
	if count = len(listed.GetActivityTaskQueuePartitions()); count == 0 {
		return 0, errors.New("no partition is listed")
	}
	return count, nil
}

func describePartitions(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf("the queues of business types have %d partitions: a limit on callbacks a second is kept to as little as half; "+
		"set matching.numTaskqueueReadPartitions and matching.numTaskqueueWritePartitions to 1", n)
}

func describeReuse(delayed time.Duration) string {
	if delayed <= tuning.LongestReuse {
		return ""
	}
	return fmt.Sprintf("a run that continues as new is delayed by %s: a timer that is moved or rung again is late by as much; "+
		"set history.workflowIdReuseMinimalInterval to 1ms", delayed.Round(time.Millisecond))
}
