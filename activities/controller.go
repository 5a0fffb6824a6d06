package activities

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/turns"
)

// Queues sets the limits of Temporal's task queues.
type Queues interface {
	SetQueueRate(ctx context.Context, rate policy.QueueRate) error
}

// Sender sends messages to any kind of destination.
type Sender interface {
	Send(ctx context.Context, m send.Message) send.Outcome
}

// Policies returns the policy of a business type, its secrets opened. A type without a
// policy is [wire.NotFound].
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
}

// Runs keeps what the activities of runs report.
type Runs interface {
	// LastHeartbeat returns what the activity of a run has last reported, as JSON.
	LastHeartbeat(ctx context.Context, workflowID, runID string) (jsontext.Value, error)
	// Record stores the progress of the attempt with a token at once. It fails with
	// [wire.NotFound] if another attempt may have the place of this one.
	Record(ctx context.Context, token []byte, progress any) error
}

// Controller keeps a deployment in order. No delivery passes through it.
type Controller struct {
	Queues   Queues
	Runs     Runs
	Policies Policies
	Sender   Sender
	Bulks    Bulk
	// Turns queue for the places of jobs.
	Turns *turns.Turns
}

// SetQueueRate sets the rate of a business type's queue.
func (c *Controller) SetQueueRate(ctx context.Context, rate policy.QueueRate) error {
	return c.Queues.SetQueueRate(ctx, rate)
}

// LastHeartbeat returns what the activity of the run that asks has last reported; null if it
// has reported nothing.
func (c *Controller) LastHeartbeat(ctx context.Context) (jsontext.Value, error) {
	run := activity.GetInfo(ctx).WorkflowExecution
	return c.Runs.LastHeartbeat(ctx, run.ID, run.RunID)
}

// Alert sends an event to the policy's recipient, signed like a callback. It sends nothing
// if the policy no longer names a recipient.
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
	if event.Own != nil { // a booking could use the client certificate to get in anywhere
		policy.TLS = policy.TLS.Trust()
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
		activity.GetLogger(ctx).Warn("an event could not be sent", "event", event.Type, "business_type", event.Data.BusinessType,
			"business_id", event.Data.BusinessID, "verdict", verdict.Decision, "status", sent.Status, "class", sent.Class)
		return temporal.NewApplicationErrorWithOptions(sent.Describe(), string(verdict.Decision), temporal.ApplicationErrorOptions{
			NonRetryable: verdict.Decision == delivery.DecisionStop, Category: temporal.ApplicationErrorCategoryBenign,
		})
	}
}

// alertMessage is the body of an event, under the alert's permanent id.
func alertMessage(policy policy.Policy, to delivery.Destination, alert string, body []byte) send.Message {
	return send.Message{
		ID: timer.MessageID(alert), BusinessType: policy.BusinessType, Destination: to.Routed(policy.BusinessType),
		ContentType: timer.ContentTypeJSON, Body: body,
		Headers: map[string]string{send.HeaderBusinessType: policy.BusinessType},
		Secrets: policy.Secrets(time.Now()), Timeout: delivery.DefaultAttemptTimeout, TLS: policy.TLS,
	}
}
