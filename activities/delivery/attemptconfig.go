package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// attemptConfig is how one attempt is made: the live policy, under the timer's own
// overrides.
type attemptConfig struct {
	policy   policy.Policy
	callback delivery.Callback
	retry    delivery.Retry
	latest   wire.Instant
	// fallback is the second link; nil where there is none. link is by which the
	// attempt goes where there are two.
	fallback *delivery.Fallback
	link     delivery.Link
	// paused is whether somebody has paused the type's callbacks.
	paused bool
	// unopened is why nobody can be called, if it is so: a header of the timer is
	// sealed with a key that is not configured.
	unopened error
}

// errUncalled is told of a timer that nobody can be called for. It waits until a
// policy says whom to call.
var errUncalled = errors.New(string(delivery.NoReceiver))

func (a *Attempter) configure(ctx context.Context, spec timer.Spec) (attemptConfig, error) {
	policy, err := a.Policies.Policy(ctx, spec.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return attemptConfig{}, fmt.Errorf("reading the policy: %w", err)
	}
	paused, err := a.Emergencies.Paused(ctx, spec.BusinessType)
	if err != nil {
		return attemptConfig{}, fmt.Errorf("reading whether the type is paused: %w", err)
	}
	policy = policy.WithDefaults()
	policy.BusinessType = spec.BusinessType
	var unopened error
	if spec.Callback != nil {
		var own delivery.Callback
		own, unopened = a.open(*spec.Callback)
		spec.Callback = &own
	}
	c := attemptConfig{policy: policy, paused: paused, latest: spec.Latest(policy.ExpiresAfter), unopened: unopened}
	c.callback, c.retry = spec.Call(policy)
	c.callback.Destination = c.callback.Routed(policy.BusinessType)
	c.fallback = secondLink(spec, policy)
	if !c.callback.Addressed() {
		return attemptConfig{}, errUncalled
	}
	return c, nil
}

// secondLink is the fallback of the policy, for timers without a destination of their own.
func secondLink(spec timer.Spec, policy policy.Policy) *delivery.Fallback {
	if policy.Fallback == nil || (spec.Callback != nil && spec.Callback.Addressed()) {
		return nil
	}
	second := *policy.Fallback
	second.Destination = second.Routed(policy.BusinessType)
	return &second
}

// by is the configuration of an attempt that goes by a link. The headers of the callback,
// the timer's own among them, stay with it: they may be its credentials.
func (c attemptConfig) by(r route) attemptConfig {
	c.link = r.link
	switch {
	case r.link == delivery.LinkFallback:
		c.callback, c.policy.Declare, c.unopened = c.fallback.Callback, nil, nil
	case r.probe != nil:
		c.callback.Timeout = min(c.callback.Timeout, wire.Duration(r.probe.timeout))
	}
	return c
}

// open opens the sealed header values of a timer's own callback.
func (a *Attempter) open(callback delivery.Callback) (delivery.Callback, error) {
	headers := make(map[string]string, len(callback.Headers))
	var unopened error
	for _, name := range slices.Sorted(maps.Keys(callback.Headers)) {
		value, err := a.Opener.Open(callback.Headers[name])
		if err != nil {
			unopened = fmt.Errorf("opening the header %s failed", name) // why is not told
			continue
		}
		headers[name] = value
	}
	callback.Headers = headers
	return callback, unopened
}

func (c attemptConfig) message(a attempt) send.Message {
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
	maps.Copy(headers, c.callback.Headers)
	return send.Message{
		ID: spec.WebhookID(), BusinessType: spec.BusinessType, Destination: c.callback.Destination, ContentType: spec.ContentType,
		Body: a.payload.Payload().GetData(), Headers: headers, Secrets: c.policy.Secrets(time.Now()),
		Timeout: c.callback.Timeout.D(), Expires: expiry(c.latest), TLS: c.tls(spec), Declare: c.declare(spec), Parent: parentOf(spec),
	}
}

// declare is what the policy declares for its own destination.
func (c attemptConfig) declare(spec timer.Spec) *delivery.Declare {
	if spec.Callback != nil && spec.Callback.Addressed() {
		return nil
	}
	return c.policy.Declare
}

// tls is what the policy adds to TLS. Its client certificate, like its headers, is
// for its own receiver: whoever books a timer could else be let in anywhere.
func (c attemptConfig) tls(spec timer.Spec) *policy.TLS {
	if spec.Callback != nil && spec.Callback.Addressed() {
		return c.policy.TLS.Trust()
	}
	return c.policy.TLS
}

// expiry is when a message is of no use any more, zero for never.
func expiry(latest wire.Instant) time.Time {
	if latest == 0 {
		return time.Time{}
	}
	return latest.Time()
}
