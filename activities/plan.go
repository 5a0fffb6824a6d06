package activities

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/timer"
)

// plan is how one attempt is made: the live policy, under the timer's own
// overrides.
type plan struct {
	policy   timer.Policy
	callback timer.Callback
	retry    timer.Retry
	latest   timer.Instant
}

// errUncalled is told of a timer that nobody can be called for. It waits until a
// policy says whom to call.
var errUncalled = errors.New(string(timer.NoReceiver))

func (r *Ringer) plan(ctx context.Context, spec timer.Spec) (plan, error) {
	policy, err := r.Policies.Policy(ctx, spec.BusinessType)
	if err != nil && timer.CodeOf(err) != timer.NotFound {
		return plan{}, fmt.Errorf("reading the policy: %w", err)
	}
	policy = policy.WithDefaults()
	policy.BusinessType = spec.BusinessType
	if spec.Callback != nil {
		own, err := r.open(*spec.Callback)
		if err != nil {
			return plan{}, err
		}
		spec.Callback = &own
	}
	p := plan{policy: policy, latest: spec.Latest(policy.ExpiresAfter)}
	p.callback, p.retry = spec.Call(policy)
	if p.callback.URL == "" {
		return plan{}, errUncalled
	}
	return p, nil
}

// open opens the sealed header values of a timer's own callback.
func (r *Ringer) open(callback timer.Callback) (timer.Callback, error) {
	headers := make(map[string]string, len(callback.Headers))
	for name, sealed := range callback.Headers {
		value, err := r.Opener.Open(sealed)
		if err != nil {
			return timer.Callback{}, fmt.Errorf("opening the header %s: %w", name, err)
		}
		headers[name] = value
	}
	callback.Headers = headers
	return callback, nil
}

// The headers of a callback, beside those of Standard Webhooks.
const (
	HeaderBusinessType = "Wakecall-Business-Type"
	HeaderBusinessID   = "Wakecall-Business-Id"
	HeaderDueAt        = "Wakecall-Due-At"
	HeaderAttempt      = "Wakecall-Attempt"
	HeaderRevision     = "Wakecall-Revision"
	// HeaderOccurrence numbers the rings of a recurring timer, from 1.
	HeaderOccurrence = "Wakecall-Occurrence"
	// HeaderNoRetry, set to "true" by a receiver, stops the delivery.
	HeaderNoRetry = "Wakecall-No-Retry"
)

// request is one POST to a receiver.
type request struct {
	url     string
	timeout time.Duration
	body    []byte
	headers map[string]string
	parent  trace.SpanContext
	tls     *timer.TLS // nil for none
}

func (p plan) request(t try) request {
	spec, body := t.delivery.Spec, t.payload.Payload().GetData()
	headers := map[string]string{
		HeaderBusinessType: spec.BusinessType,
		HeaderBusinessID:   spec.BusinessID,
		HeaderDueAt:        spec.DueAt.String(),
		HeaderAttempt:      strconv.Itoa(t.number()),
		HeaderRevision:     strconv.Itoa(spec.Revision),
	}
	if spec.Series != nil {
		headers[HeaderOccurrence] = strconv.Itoa(spec.Series.Number)
	}
	if spec.ContentType != "" {
		headers["Content-Type"] = spec.ContentType
	}
	for name, value := range p.callback.Headers {
		headers[name] = value
	}
	now := time.Now()
	sign(headers, message{id: spec.WebhookID(), at: now, body: body}, p.policy.Secrets(now))
	return request{
		url: p.callback.URL, timeout: p.callback.Timeout.D(), body: body,
		headers: headers, parent: parentOf(spec), tls: p.tls(spec),
	}
}

// tls is what the policy adds to TLS. Its client certificate, like its headers, is
// for its own receiver: whoever books a timer could else be let in anywhere.
func (p plan) tls(spec timer.Spec) *timer.TLS {
	if spec.Callback != nil && spec.Callback.URL != "" {
		return p.policy.TLS.Trust()
	}
	return p.policy.TLS
}
