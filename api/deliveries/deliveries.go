package deliveries

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/deliveries"
	"github.com/wakecall/wakecall/internal/auth"
)

const deliveriesPath = paths.Prefix + "deliveries"

// Deliveries take what receivers say later of deliveries that they accepted.
type Deliveries interface {
	Open(webhookID, token string) (deliveries.Accepted, error)
	Find(ctx context.Context, webhookID string, sees func(businessType string) bool) (deliveries.Accepted, error)
	Acknowledge(
		ctx context.Context, of deliveries.Accepted, word delivery.Acknowledgement, wait time.Duration,
	) (timer.View, bookings.Effect, error)
}

// Register adds the calls by which receivers acknowledge deliveries.
func Register(contract calls.Routes, deliveries Deliveries) {
	h, to := deliveryHandlers{deliveries}, contract.Under(deliveriesPath)
	to.Post("/:webhook_id/ack", calls.Operating(calls.ByID, calls.Payloads).Accepting(calls.Body|calls.AckToken), h.acknowledging(readAck))
	to.Post("/:webhook_id/nack", calls.Operating(calls.ByID, calls.Payloads).Accepting(calls.Body|calls.AckToken), h.acknowledging(readNack))
}

type deliveryHandlers struct{ deliveries Deliveries }

// acknowledging handles a word on a delivery.
func (h deliveryHandlers) acknowledging(read func(echo.Context) (delivery.Acknowledgement, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		q := requests.ReadQuery(c, "wait")
		wait := q.Wait()
		if err := q.Err(); err != nil {
			return err
		}
		word, err := read(c)
		if err != nil {
			return err
		}
		of, err := h.deliveryOf(c)
		if err != nil {
			return err
		}
		view, effect, err := h.deliveries.Acknowledge(c.Request().Context(), of, word, wait)
		return answers.Effect(c, view, effect, err)
	}
}

// deliveryOf is the delivery in the path, if the caller may speak for it.
func (h deliveryHandlers) deliveryOf(c echo.Context) (deliveries.Accepted, error) {
	id := paths.Param(c, "webhook_id")
	if tokens := c.Request().Header.Values(delivery.HeaderAckToken); len(tokens) > 0 {
		if len(tokens) > 1 {
			return deliveries.Accepted{}, wire.FieldErrors{{Pointer: delivery.HeaderAckToken, Code: wire.CodeInvalidHeader,
				Detail: "must be given once"}}.Err()
		}
		of, err := h.deliveries.Open(id, tokens[0])
		audits.EntryOf(c).SetKey(of.Key)
		return of, err
	}
	ctx := c.Request().Context()
	of, err := h.deliveries.Find(ctx, id, func(businessType string) bool { return auth.From(ctx).May(auth.Viewer, businessType) })
	if err != nil {
		return of, err
	}
	audits.EntryOf(c).SetKey(of.Key)
	return of, calls.Permit(ctx, of.Key.BusinessType)
}

// readAck reads the body of an ack, which says nothing more.
func readAck(c echo.Context) (word delivery.Acknowledgement, err error) {
	if calls.IsEmpty(c.Request()) {
		return word, nil
	}
	body, err := requests.ReadObject(c)
	if err != nil {
		return word, err
	}
	return word, body.Fill(&struct{}{}).Err()
}

// NackBody is why a delivery failed after all.
type NackBody struct {
	Reason     *string        `json:"reason"`
	RetryAfter *wire.Duration `json:"retry_after"`
}

func readNack(c echo.Context) (delivery.Acknowledgement, error) {
	word := delivery.Acknowledgement{Nack: true}
	if calls.IsEmpty(c.Request()) {
		return word, nil
	}
	object, err := requests.ReadObject(c)
	if err != nil {
		return word, err
	}
	var body NackBody
	errs := object.Fill(&body)
	word.Reason, word.RetryAfter = decode.Value(body.Reason), decode.Value(body.RetryAfter)
	errs = append(errs, word.Check()...)
	return word, errs.Err()
}
