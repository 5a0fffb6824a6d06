package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// settings are the settings of an attempt: the live policy, under the timer's overrides.
type settings struct {
	policy   policy.Policy
	callback delivery.Callback
	retry    delivery.Retry
	latest   wire.Instant
	// fallback is the second link; nil if there is none. link is the attempt's link if there
	// are two.
	fallback *delivery.Fallback
	link     delivery.Link
	// paused reports whether the type's callbacks are paused.
	paused bool
	// unopened is why no receiver can be called: a header of the timer is sealed with a key
	// that is not configured. Nil if all headers open.
	unopened error
}

// errUncalled is the error of a timer without a receiver. It waits until a policy names one.
var errUncalled = errors.New(string(delivery.NoReceiver))

// configure reads the settings of a timer's attempts. Its error is [errUncalled] without a
// receiver.
func (a *Attempter) configure(ctx context.Context, spec timer.Spec) (settings, error) {
	policy, err := a.Policies.Policy(ctx, spec.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return settings{}, fmt.Errorf("reading the policy: %w", err)
	}
	paused, err := a.Emergencies.Paused(ctx, spec.BusinessType)
	if err != nil {
		return settings{}, fmt.Errorf("reading whether the type is paused: %w", err)
	}
	policy = policy.WithDefaults()
	policy.BusinessType = spec.BusinessType
	var unopened error
	if spec.Callback != nil {
		var own delivery.Callback
		own, unopened = a.open(*spec.Callback)
		spec.Callback = &own
	}
	s := settings{policy: policy, paused: paused, latest: spec.Latest(policy.ExpiresAfter), unopened: unopened}
	s.callback, s.retry = spec.Call(policy)
	s.callback.Destination = s.callback.Routed(policy.BusinessType)
	s.fallback = fallbackOf(spec, policy)
	if !s.callback.Addressed() {
		return settings{}, errUncalled
	}
	return s, nil
}

// fallbackOf is the policy's fallback, for timers without their own destination.
func fallbackOf(spec timer.Spec, policy policy.Policy) *delivery.Fallback {
	if policy.Fallback == nil || (spec.Callback != nil && spec.Callback.Addressed()) {
		return nil
	}
	second := *policy.Fallback
	second.Destination = second.Routed(policy.BusinessType)
	return &second
}

// open opens the sealed header values of a timer's own callback.
func (a *Attempter) open(callback delivery.Callback) (delivery.Callback, error) {
	headers := make(map[string]string, len(callback.Headers))
	var unopened error
	for _, name := range slices.Sorted(maps.Keys(callback.Headers)) {
		value, err := a.Opener.Open(callback.Headers[name])
		if err != nil {
			unopened = fmt.Errorf("opening the header %s failed", name) // the cause is not shown
			continue
		}
		headers[name] = value
	}
	callback.Headers = headers
	return callback, unopened
}

// withRoute returns the settings for an attempt by a route. The headers of the callback,
// including the timer's own, are not sent by the fallback: they may be credentials.
func (s settings) withRoute(r route) settings {
	s.link = r.link
	switch {
	case r.link == delivery.LinkFallback:
		s.callback, s.policy.Declare, s.unopened = s.fallback.Callback, nil, nil
	case r.probe != nil:
		s.callback.Timeout = min(s.callback.Timeout, wire.Duration(r.probe.timeout))
	}
	return s
}

// withDeadline returns the settings of an attempt that ends before its task does. An attempt that
// outlasted its task would leave no report, and not count.
func (s settings) withDeadline(ctx context.Context) settings {
	end, _ := ctx.Deadline()
	left := max(wire.Duration(time.Until(end)-tuning.ReportSlack), wire.Duration(delivery.MinAttemptTimeout))
	s.callback.Timeout = min(s.callback.Timeout, left)
	if s.fallback != nil {
		second := *s.fallback
		second.Timeout = min(second.Timeout, left)
		s.fallback = &second
	}
	return s
}

// retryAfter is the wait that an answer requests, as far as the policy grants it.
func (s settings) retryAfter(verdict delivery.Verdict) time.Duration {
	return min(verdict.RetryAfter, s.policy.LongestBackPressure())
}
