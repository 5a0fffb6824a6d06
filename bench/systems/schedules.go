package systems

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// schedules is a loop whose recurring timers are Temporal Schedules.
type schedules struct{ loop }

// A schedule is itself a workflow. Visibility separates it from the workflows that it starts.
const (
	schedulerWorkflow = "temporal-sys-scheduler:"
	schedulerDivision = "TemporalScheduler"
)

// Recur creates a schedule that starts a workflow with one local activity.
func (s *schedules) Recur(ctx context.Context, id string, every time.Duration) error {
	_, err := s.client.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:      id,
		Spec:    client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}},
		Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
		Action:  &client.ScheduleWorkflowAction{ID: id, Workflow: scheduled, TaskQueue: queue, Args: []any{id}},
	})
	return err
}

// Rest deletes the schedule.
func (s *schedules) Rest(ctx context.Context, id string) error {
	return s.client.ScheduleClient().GetHandle(ctx, id).Delete(ctx)
}

// Recurred sums up the workflows that the schedule has started, one for each occurrence, and
// the schedule's own.
func (s *schedules) Recurred(ctx context.Context, id string) (Recurred, error) {
	started, err := trails(ctx, s.client, fmt.Sprintf(`TemporalScheduledById = %q`, id))
	if err != nil {
		return Recurred{}, err
	}
	query := fmt.Sprintf(`TemporalNamespaceDivision = %q AND WorkflowId = %q`, schedulerDivision, schedulerWorkflow+id)
	own, err := trails(ctx, s.client, query)
	if err != nil {
		return Recurred{}, err
	}
	return Recurred{Trail: sum(append(started, own...)), Occurrences: len(started)}, nil
}
