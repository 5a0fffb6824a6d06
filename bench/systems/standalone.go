package systems

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"
)

// standalone is an activity without a workflow around it: cheaper than any workflow, but
// beyond `workflow cancel`, signals and tctl.
type standalone struct{ loop }

// Add starts an activity that the server dispatches when it is due.
func (s *standalone) Add(ctx context.Context, timer Timer) error {
	_, err := s.client.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: timer.ID, TaskQueue: queue, StartToCloseTimeout: callTimeout, StartDelay: max(0, time.Until(timer.Due)),
	}, ringing, Call{ID: timer.ID, Due: timer.Due})
	return err
}

// AddBatch adds several at once.
func (s *standalone) AddBatch(ctx context.Context, timers []Timer) (int, error) {
	return each(ctx, timers, s.Add)
}

// Trail describes the activity, which has no history.
func (s *standalone) Trail(ctx context.Context, timer Timer) (Trail, error) {
	described, err := s.client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: timer.ID}).
		Describe(ctx, client.DescribeActivityOptions{})
	if err != nil {
		return Trail{}, err
	}
	return Trail{Transitions: described.RawResponse.GetInfo().GetStateTransitionCount()}, nil
}

// Open counts activities.
func (s *standalone) Open(ctx context.Context) (int64, error) {
	counted, err := s.client.CountActivities(ctx, client.CountActivitiesOptions{Query: running})
	if err != nil {
		return 0, err
	}
	return counted.Count, nil
}
