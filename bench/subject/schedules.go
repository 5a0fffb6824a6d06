package subject

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// schedules is a loop whose recurring timers are Temporal Schedules.
type schedules struct{ loop }

// Recur creates a schedule that starts a workflow with one activity.
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
