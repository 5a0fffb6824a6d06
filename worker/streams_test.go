package worker

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities/delivery"
	coredelivery "github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/workflows"
)

// polling is a worker of the SDK that polls a queue, and stops when its attempts have drained.
type polling struct {
	sdkworker.Worker
	polls   bool
	drained chan struct{}
}

func (*polling) RegisterActivityWithOptions(any, activity.RegisterOptions) {}
func (p *polling) Start() error                                            { p.polls = true; return nil }
func (p *polling) Stop()                                                   { <-p.drained; p.polls = false }

// An attempt that waits for its receiver can be answered as long as it waits: after a long poll
// there is no other way.
func TestAnswersAreTakenUntilTheAttemptsHaveDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts, answers := &polling{drained: make(chan struct{})}, &polling{drained: make(chan struct{})}
		s := NewStreams(Options{Identity: "wakecall-1", Attempter: &delivery.Attempter{}},
			func(context.Context, coredelivery.RingAnswer) error { return nil })
		s.worker = func(queue string, _ sdkworker.Options) sdkworker.Worker {
			if queue == workflows.AnswersQueue("wakecall-1") {
				return answers
			}
			require.True(t, strings.HasSuffix(queue, "order"), queue)
			return attempts
		}
		s.SetPlaces("order", 1)
		synctest.Wait()
		require.True(t, attempts.polls && answers.polls)

		close(answers.drained) // none is in progress
		ended := make(chan struct{})
		go func() { s.Stop(); close(ended) }()
		synctest.Wait()
		require.True(t, answers.polls, "an attempt waits for its answer")
		close(attempts.drained)
		<-ended
		require.False(t, attempts.polls || answers.polls)
		s.SetPlaces("other", 1) // no more polls
	})
}
