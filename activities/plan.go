package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	// unopened is why nobody can be called, if it is so: a header of the timer is
	// sealed with a key that is not configured.
	unopened error
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
	var unopened error
	if spec.Callback != nil {
		var own timer.Callback
		own, unopened = r.open(*spec.Callback)
		spec.Callback = &own
	}
	p := plan{policy: policy, latest: spec.Latest(policy.ExpiresAfter), unopened: unopened}
	p.callback, p.retry = spec.Call(policy)
	if p.callback.URL == "" {
		return plan{}, errUncalled
	}
	return p, nil
}

// open opens the sealed header values of a timer's own callback.
func (r *Ringer) open(callback timer.Callback) (timer.Callback, error) {
	headers := make(map[string]string, len(callback.Headers))
	var unopened error
	for _, name := range slices.Sorted(maps.Keys(callback.Headers)) {
		value, err := r.Opener.Open(callback.Headers[name])
		if err != nil {
			unopened = fmt.Errorf("opening the header %s: %w", name, err)
			continue
		}
		headers[name] = value
	}
	callback.Headers = headers
	return callback, unopened
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
