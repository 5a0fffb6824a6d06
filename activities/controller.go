package activities

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
)

// Queues sets what Temporal holds a queue to.
type Queues interface {
	SetQueueRate(ctx context.Context, rate timer.QueueRate) error
}

// Controller keeps a deployment in order. It is not on the way of any delivery.
type Controller struct {
	Queues   Queues
	Policies Policies
	Caller   *Caller
	Failures Failures
}

// SetQueueRate gives the queue of a business type its rate.
func (c *Controller) SetQueueRate(ctx context.Context, rate timer.QueueRate) error {
	return c.Queues.SetQueueRate(ctx, rate)
}

// Alert tells an event to the policy's alert URL, signed like a callback. A
// policy that names none any more needs no telling.
func (c *Controller) Alert(ctx context.Context, event timer.Event) error {
	policy, err := c.Policies.Policy(ctx, event.Data.BusinessType)
	if timer.CodeOf(err) == timer.NotFound || (err == nil && policy.Alert == nil) {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(event)
	if err != nil {
		return err
	}
	sent := c.Caller.call(ctx, alertRequest(policy, activity.GetInfo(ctx).WorkflowExecution.ID, body))
	verdict := timer.Judge(sent.answer, sent.ended)
	switch verdict.Ruling {
	case timer.RuleDelivered:
		return nil
	case timer.RuleStop:
		return temporal.NewNonRetryableApplicationError(sent.answer.Describe(), string(verdict.Ruling), nil)
	default:
		return errors.New(sent.answer.Describe())
	}
}

func alertRequest(policy timer.Policy, id string, body []byte) request {
	headers := map[string]string{HeaderBusinessType: policy.BusinessType, "Content-Type": timer.ContentTypeJSON}
	now := time.Now()
	sign(headers, message{id: timer.MessageID(id), at: now, body: body}, policy.Secrets(now))
	return request{url: policy.Alert.URL, timeout: timer.DefaultAttemptTimeout, body: body, headers: headers, tls: policy.TLS}
}
