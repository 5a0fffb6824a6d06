package send

import (
	"maps"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// Message is a message to a destination.
type Message struct {
	// ID is the Standard Webhooks message id, the same for every attempt.
	ID string
	// BusinessType is the sender. A transport shares scarce resources out among business types.
	BusinessType string
	Destination  delivery.Destination
	// ContentType is empty for a message without a body.
	ContentType string
	Body        []byte
	// Headers are added to those of Standard Webhooks and of the trace.
	Headers map[string]string
	// Secrets sign it, newest first; without one it is not signed.
	Secrets []string
	// Timeout bounds the attempt from its first step to the answer.
	Timeout time.Duration
	// Answer is how many bytes of the answer are wanted; 0 for none.
	Answer int
	// Ask reports whether it is a question: it has no body, and the answer counts.
	Ask bool
	// Expires is when it becomes useless, zero for never.
	Expires time.Time
	// TLS is the policy's addition to TLS, nil for none.
	TLS *policy.TLS
	// Declare is what to declare at the destination first, nil for nothing.
	Declare *delivery.Declare
	// Parent is the parent span of the attempt.
	Parent trace.SpanContext
}

// Envelope is a message ready to be carried: a transport passes its parts on unchanged.
type Envelope struct {
	ID string
	// BusinessType is the sender.
	BusinessType string
	Destination  delivery.Destination
	ContentType  string
	Body         []byte
	// Headers are all headers, including the signature, except the content type.
	Headers map[string]string
	// Expires is when it becomes useless, zero for never. A transport that keeps messages
	// drops it then.
	Expires time.Time
	TLS     *policy.TLS
	// Declare is what a broker must declare first, nil for nothing.
	Declare *delivery.Declare
	// Answer and Ask are those of the message. A transport without answers ignores them.
	Answer int
	Ask    bool
}

// envelope signs a message for an attempt that begins at a moment.
func (m Message) envelope(at time.Time) Envelope {
	headers := make(map[string]string, len(m.Headers)+4)
	maps.Copy(headers, m.Headers)
	sign(headers, signed{id: m.ID, at: at, body: m.Body}, m.Secrets)
	return Envelope{
		ID: m.ID, BusinessType: m.BusinessType, Destination: m.Destination, ContentType: m.ContentType, Body: m.Body, Headers: headers,
		Expires: m.Expires, TLS: m.TLS, Declare: m.Declare, Answer: m.Answer, Ask: m.Ask,
	}
}

// Outcome is the outcome of one attempt. It holds no secret and no address: it is stored and
// shown.
type Outcome struct {
	// Answer is the receiver's answer, or the reason for its absence; see [delivery.Judge].
	delivery.Answer
	// FirstByte is when the message began to leave, zero when nothing was sent.
	FirstByte time.Time
	// Body is the wanted part of an answer that delivered, and one more byte if there was more.
	Body []byte
	// TLS is the connection that it left over; nil for none, or for a transport without TLS.
	TLS *delivery.TLSSeen
	// Ended is when the answer was complete, or was certain not to come.
	Ended time.Time
}

// Failed is the outcome of an attempt that ends now without an answer.
func Failed(class delivery.FailureClass) Outcome {
	return Outcome{Answer: delivery.Answer{Class: class}, Ended: time.Now()}
}
