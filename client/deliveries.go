package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Deliveries acknowledges deliveries that their receiver accepted with 202.
type Deliveries struct{ caller *caller }

// Delivery identifies a delivery to its receiver.
type Delivery struct {
	WebhookID string
	// Token replaces an API key; "" if the client has one.
	Token string
}

// DeliveryOf returns the delivery of a callback, from its headers.
func DeliveryOf(header http.Header) Delivery {
	return Delivery{WebhookID: header.Get("webhook-id"), Token: header.Get(delivery.HeaderAckToken)}
}

// Failure is why an accepted delivery failed.
type Failure struct {
	// Reason is shown as the failure of the attempt. A long one is cut.
	Reason string
	// RetryAfter is the shortest wait before the next attempt.
	RetryAfter time.Duration
	// Wait is how long to wait for the effect.
	Wait Wait
}

// Ack acknowledges a delivery. pending reports whether it still waits for the end of its
// attempt. An error with the slug not-awaited has the timer's true state.
func (d Deliveries) Ack(ctx context.Context, of Delivery, wait Wait) (view timer.View, pending bool, err error) {
	return d.say(ctx, of, call{method: http.MethodPost, path: deliveryPath(of) + "/ack"}, wait)
}

// Nack reports that a delivery failed: the ladder goes on. The results are as for
// [Deliveries.Ack].
func (d Deliveries) Nack(ctx context.Context, of Delivery, why Failure) (view timer.View, pending bool, err error) {
	body := map[string]any{}
	if reason := wire.Clip(wire.Excerpt(why.Reason), delivery.MaxAckReason-len("…")); reason != "" {
		body["reason"] = reason
	}
	if why.RetryAfter != 0 {
		body["retry_after"] = wire.Duration(why.RetryAfter)
	}
	return d.say(ctx, of, call{method: http.MethodPost, path: deliveryPath(of) + "/nack", body: body}, why.Wait)
}

func (d Deliveries) say(ctx context.Context, of Delivery, call call, wait Wait) (view timer.View, pending bool, err error) {
	if of.Token != "" {
		call.header = http.Header{delivery.HeaderAckToken: {of.Token}}
	}
	if wait != nil {
		call.query = url.Values{"wait": {wait.String()}}
	}
	status, err := d.caller.do(ctx, call, &view)
	return view, status == http.StatusAccepted, err
}

func deliveryPath(of Delivery) string { return "/v1/deliveries/" + url.PathEscape(of.WebhookID) }
