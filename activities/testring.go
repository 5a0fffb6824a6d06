package activities

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// TestRing sends one test event to a link of a policy, as an attempt of a delivery would be sent.
func (c *Controller) TestRing(ctx context.Context, ring delivery.TestRing) (delivery.TestResult, error) {
	policy, err := c.Policies.Policy(ctx, ring.BusinessType)
	if err != nil {
		return delivery.TestResult{}, err
	}
	to := policy.Callback
	if ring.Link == delivery.LinkFallback {
		if policy.Fallback == nil { // it was taken away since it was asked for
			return delivery.TestResult{}, &wire.Error{Code: wire.NotFound, Message: "The policy has no fallback."}
		}
		to, policy.Declare = policy.Fallback.Callback, nil // that belongs to the callback
	}
	message, err := testMessage(policy, to, ring)
	if err != nil {
		return delivery.TestResult{}, err
	}
	began := time.Now()
	sent := c.Sender.Send(ctx, message)
	if sent.Status >= http.StatusOK && sent.Status < http.StatusMultipleChoices { // also if the rest of the answer broke off
		sent.Answer = delivery.Answer{Delivered: true, Status: sent.Status}
	}
	result := delivery.TestResult{
		Link: ring.Link, WebhookID: ring.WebhookID, Signed: len(message.Secrets) > 0,
		SentAt: wire.At(began), TookMS: time.Since(began).Milliseconds(),
		Delivered: delivery.Judge(sent.Answer).Decision == delivery.DecisionDelivered,
		Status:    sent.Status, Class: sent.Class, Detail: sent.Detail, TLS: sent.TLS, Answer: sent.Text,
	}
	if result.Answer == "" {
		result.Answer = delivery.Excerpted(sent.Body)
	}
	return result, nil
}

// testMessage is the event of a test ring, with what an attempt has: the signature, the headers and
// the TLS of the policy.
func testMessage(policy policy.Policy, to delivery.Callback, ring delivery.TestRing) (send.Message, error) {
	body, err := json.Marshal(map[string]any{
		"type": delivery.EventTest, "timestamp": ring.At, "data": map[string]string{"business_type": ring.BusinessType},
	}, json.Deterministic(true))
	headers := map[string]string{send.HeaderBusinessType: ring.BusinessType}
	maps.Copy(headers, to.Headers)
	return send.Message{
		ID: ring.WebhookID, BusinessType: ring.BusinessType, Destination: to.Routed(ring.BusinessType),
		ContentType: timer.ContentTypeJSON, Body: body, Headers: headers, Secrets: policy.Secrets(time.Now()),
		Timeout: min(to.Timeout.D(), tuning.TestRingTimeout), Answer: delivery.MaxAnswer, TLS: policy.TLS, Declare: policy.Declare,
	}, err
}
