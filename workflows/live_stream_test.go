package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// What nobody takes from the queue of a stream comes back when its time there is over, and
// goes on where both links can be taken. What was tried before is known there.
func TestWhatNoReceiverTakes(t *testing.T) {
	t.Parallel()
	failed := timer.Report{Result: timer.ResultRetry, Attempt: 1, PolicyVersion: 3, RetryIn: timer.Duration(time.Second)}
	for name, tried := range map[string]error{
		"nothing was tried": nil, "it was tried once": temporal.NewApplicationErrorWithOptions("", "", temporal.ApplicationErrorOptions{Details: []any{failed}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			handed := timer.Handover{Link: timer.LinkCallback, At: s.at(0), Wait: timer.Duration(30 * time.Second)}
			s.ring = timer.Report{Result: timer.ResultUseQueue, PolicyVersion: 3, Stream: true, Handed: &handed}
			s.deliver = func(s *course, _ activity.Info) (timer.Report, error) {
				if len(s.deliveries) == 1 {
					return timer.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, tried)
				}
				return timer.Report{Result: timer.ResultDelivered, Attempt: 2}, nil
			}
			s.run()
			outcome, _ := s.ended()
			require.Equal(t, timer.Delivered, outcome.Status)
			require.Len(t, s.deliveries, 2)
			first, second := s.deliveries[0], s.deliveries[1]
			require.Equal(t, workflows.StreamQueue("x"), first.info.TaskQueue)
			require.Equal(t, &handed, first.Prior.Handed)
			require.Equal(t, workflows.DeliveryQueue("x"), second.info.TaskQueue)
			handed.Missed = true
			require.Equal(t, &handed, second.Prior.Handed)
			require.Equal(t, tried != nil, second.Prior.Attempt == 1)
		})
	}
}
