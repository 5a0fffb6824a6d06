package failover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	timerate "golang.org/x/time/rate"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// errEnough ends a list once enough of it was checked.
var errEnough = errors.New("enough")

// attempts frees timers that are past their first attempt: what a dead worker had of them is
// an attempt on a queue, or a task between two attempts. Visibility does not tell which of
// them have one, so it looks at so many at most. The others wait for their timeouts.
type attempts struct {
	*Failover

	looks *timerate.Limiter
}

func newAttempts(f *Failover) *attempts {
	return &attempts{Failover: f, looks: timerate.NewLimiter(tuning.AttemptLooks, 1)}
}

func (*attempts) reset() {}

// pass looks at one timer after the other. One that cannot be read keeps it from no other, unless Temporal
// does not answer.
func (s *attempts) pass(ctx context.Context, overtaken func() bool) (freed int, failed error) {
	looked, unanswered := 0, 0
	query := visibility.Overdue(visibility.Retrying(), wire.At(time.Now().Add(tuning.ClockSkew)))
	err := s.kernel.EachPage(ctx, query, func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			if looked++; looked > tuning.AttemptsLooked || unanswered >= tuning.UnansweredChecks || overtaken() {
				return errEnough
			}
			n, err := s.lookAt(ctx, info.GetExecution())
			freed += n
			if unanswered++; err == nil {
				unanswered = 0
			} else {
				failed = err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return freed, fmt.Errorf("%w: %w", errUnlisted, err)
	}
	return freed, failed
}

// lookAt frees what dead workers have of one run, in its turn. A run that is gone is no error.
func (s *attempts) lookAt(ctx context.Context, run *commonpb.WorkflowExecution) (freed int, err error) {
	if err = s.looks.Wait(ctx); err != nil {
		return 0, err
	}
	freed, err = s.free(ctx, run)
	if wire.CodeOf(err) == wire.NotFound {
		err = nil
	}
	return freed, err
}

// free frees what dead workers have of one run.
func (s *attempts) free(ctx context.Context, run *commonpb.WorkflowExecution) (freed int, err error) {
	described, err := s.kernel.Describe(ctx, run.GetWorkflowId(), run.GetRunId())
	if err != nil {
		return 0, err
	}
	for _, pending := range described.GetPendingActivities() {
		if !s.isLost(pending) {
			continue
		}
		if alive, err := s.isAliveNow(ctx, identity.Process(pending.GetLastWorkerIdentity())); alive || err != nil {
			return freed, err
		}
		ok, err := s.holds.FreeActivity(ctx, run, pending)
		if err != nil {
			return freed, err
		}
		if ok {
			freed++
		}
	}
	if !hasTask(described) {
		return freed, nil
	}
	ok, _, err := s.freeTask(ctx, candidate{run.GetWorkflowId(), run.GetRunId(), time.Now()}) // nothing rings in it
	if ok {
		freed++
	}
	return freed, err
}

// isLost reports whether a dead worker has an attempt. Those for receivers that connect are
// made by gateways, whose signs no worker lists, and their silence is found out sooner.
func (s *attempts) isLost(pending *workflowpb.PendingActivityInfo) bool {
	waits := pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
	stream := strings.HasPrefix(pending.GetActivityOptions().GetTaskQueue().GetName(), workflows.StreamQueue(""))
	if waits || stream || pending.GetActivityType().GetName() != workflows.ActivityDeliver {
		return false
	}
	return s.watch.lost(identity.Process(pending.GetLastWorkerIdentity()), time.Now())
}

// hasTask reports whether a worker has the workflow task of a run.
func hasTask(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return described.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
}
