package delivery

import (
	"maps"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// message is the message of an attempt.
func (a attempt) message() send.Message {
	spec := a.delivery.Spec
	headers := map[string]string{
		send.HeaderBusinessType: spec.BusinessType,
		send.HeaderBusinessID:   spec.BusinessID,
		send.HeaderDueAt:        spec.DueAt.String(),
		send.HeaderAttempt:      strconv.Itoa(a.number()),
		send.HeaderRevision:     strconv.Itoa(spec.Revision),
	}
	if spec.Series != nil {
		headers[send.HeaderOccurrence] = strconv.Itoa(spec.Series.Number)
	}
	maps.Copy(headers, a.callback.Headers)
	return send.Message{
		ID: spec.WebhookID(), BusinessType: spec.BusinessType, Destination: a.callback.Destination, ContentType: spec.ContentType,
		Body: a.payload.Payload().GetData(), Headers: headers, Secrets: a.policy.Secrets(time.Now()),
		Timeout: a.callback.Timeout.D(), Expires: expiry(a.latest), TLS: a.tls(), Declare: a.declare(), Parent: parentOf(spec),
	}
}

// declare is the policy's declaration for its own destination.
func (a attempt) declare() *delivery.Declare {
	if a.ownCallback() {
		return nil
	}
	return a.policy.Declare
}

// tls is the policy's addition to TLS. The client certificate and the headers are only for
// the policy's own receiver. Otherwise a booking could use them to get in anywhere.
func (a attempt) tls() *policy.TLS {
	if a.ownCallback() {
		return a.policy.TLS.Trust()
	}
	return a.policy.TLS
}

// expiry is when a message becomes useless, zero for never.
func expiry(latest wire.Instant) time.Time {
	if latest == 0 {
		return time.Time{}
	}
	return latest.Time()
}
