package streamsend

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/internal/stream"
)

// Transport carries messages to the receivers of a hub. The destination's routing key names
// the business type.
type Transport struct{ hub *stream.Hub }

// New returns a Transport.
func New(hub *stream.Hub) *Transport { return &Transport{hub: hub} }

// Send gives an envelope to one of the connected receivers, and waits for its answer. An
// attempt has no verdict if its connection ends or if no receiver is connected.
func (t *Transport) Send(ctx context.Context, e send.Envelope) send.Outcome {
	deadline, _ := ctx.Deadline() // every attempt has one
	came := t.hub.Ring(ctx, e.Destination.RoutingKey, stream.Ring{
		Deadline: deadline, ContentType: e.ContentType, Headers: e.Headers, Body: e.Body,
	})
	return send.Outcome{Answer: came.Answer, FirstByte: came.Taken, Ended: time.Now()}
}
