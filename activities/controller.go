package activities

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/turns"
)

// Queues sets what Temporal holds a queue to.
type Queues interface {
	SetQueueRate(ctx context.Context, rate policy.QueueRate) error
}

// Sender sends messages, to whatever kind of destination.
type Sender interface {
	Send(ctx context.Context, m send.Message) send.Outcome
}

// Policies tells the policy of a business type, its secrets opened. A type
// without a policy is [wire.NotFound].
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
}

// Controller keeps a deployment in order. It is not on the way of any delivery.
type Controller struct {
	Queues   Queues
	Policies Policies
	Sender   Sender
	Bulks    Bulk
	// Turns are those at the places for jobs.
	Turns *turns.Turns
}

// SetQueueRate gives the queue of a business type its rate.
func (c *Controller) SetQueueRate(ctx context.Context, rate policy.QueueRate) error {
	return c.Queues.SetQueueRate(ctx, rate)
}

// Alert sends an event to the recipient that the policy names, signed like a callback. Where
// the policy names none any more, it sends nothing.
func (c *Controller) Alert(ctx context.Context, event timer.Event) error {
	policy, err := c.Policies.Policy(ctx, event.Data.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return err
	}
	policy.BusinessType = event.Data.BusinessType
	to, ok := event.Recipient(policy)
	if !ok {
		return nil
	}
	body, err := json.Marshal(event.Sent())
	if err != nil {
		return err
	}
	sent := c.Sender.Send(ctx, alertMessage(policy, to, activity.GetInfo(ctx).WorkflowExecution.ID, body))
	verdict := delivery.Judge(sent.Answer)
	switch verdict.Decision {
	case delivery.DecisionDelivered:
		return nil
	default:
		activity.GetLogger(ctx).Warn("an event could not be told", "event", event.Type, "business_type", event.Data.BusinessType,
			"business_id", event.Data.BusinessID, "verdict", verdict.Decision, "status", sent.Status, "class", sent.Class)
		return temporal.NewApplicationErrorWithOptions(sent.Describe(), string(verdict.Decision), temporal.ApplicationErrorOptions{
			NonRetryable: verdict.Decision == delivery.DecisionStop, Category: temporal.ApplicationErrorCategoryBenign,
		})
	}
}

// alertMessage is the body of an event under an id that is the alert's for ever.
func alertMessage(policy policy.Policy, to delivery.Destination, alert string, body []byte) send.Message {
	return send.Message{
		ID: timer.MessageID(alert), BusinessType: policy.BusinessType, Destination: to.Routed(policy.BusinessType),
		ContentType: timer.ContentTypeJSON, Body: body,
		Headers: map[string]string{send.HeaderBusinessType: policy.BusinessType},
		Secrets: policy.Secrets(time.Now()), Timeout: delivery.DefaultAttemptTimeout, TLS: policy.TLS,
	}
}
