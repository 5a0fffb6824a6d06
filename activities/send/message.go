package send

import (
	"maps"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// Message is what shall reach a destination.
type Message struct {
	// ID is the Standard Webhooks message id, the same for every attempt.
	ID string
	// BusinessType is on whose behalf it is sent: what a transport has few of is shared out
	// among them.
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
	// Ask reports whether it is a question: it has no body, and what counts is the answer.
	Ask bool
	// Expires is when it is of no use any more, zero for never.
	Expires time.Time
	// TLS is what the policy adds, nil for nothing.
	TLS *policy.TLS
	// Declare is what has to be declared at the destination first, nil for nothing.
	Declare *delivery.Declare
	// Parent is the span that the attempt is a child of.
	Parent trace.SpanContext
}

// Envelope is a message that is ready to be carried: a transport passes its parts
// on as they are.
type Envelope struct {
	ID string
	// BusinessType is on whose behalf it is sent.
	BusinessType string
	Destination  delivery.Destination
	ContentType  string
	Body         []byte
	// Headers are all of them but the content type, signature included.
	Headers map[string]string
	// Expires is when it is of no use any more, zero for never. A transport that keeps
	// messages drops it then.
	Expires time.Time
	TLS     *policy.TLS
	// Declare is what a broker has to be asked to declare first, nil for nothing.
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

// Outcome is what came of one attempt. It holds no secret and no address: it is
// stored and shown.
type Outcome struct {
	// Answer is what the receiver said, or why it said nothing; see [delivery.Judge].
	delivery.Answer
	// FirstByte is when the message began to leave, zero when nothing was sent.
	FirstByte time.Time
	// Body is what was wanted of an answer that delivered; one byte more than that where
	// there was more.
	Body []byte
	// Ended is when the answer was there, or it was clear that none comes.
	Ended time.Time
}

// Failed is the outcome of an attempt that ends now without an answer.
func Failed(class delivery.FailureClass) Outcome {
	return Outcome{Answer: delivery.Answer{Class: class}, Ended: time.Now()}
}
