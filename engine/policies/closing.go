package policies

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// closer closes policies, so that their open timers can be counted.
type closer struct {
	kernel   *kernel.Kernel
	entities *entities
	cache    *policyCache
	// ttl is how long a read policy is trusted.
	ttl time.Duration
	// orderBulk orders a bulk job.
	orderBulk func(ctx context.Context, order job.Bulk) error
}

// bookingDelay is how long a policy must be closed until every booking acknowledged under it is
// counted.
func (c *closer) bookingDelay() time.Duration {
	return c.ttl + tuning.PolicyReadSlack + tuning.VisibilityLag
}

var errClosed = &wire.Error{
	Code: wire.Unavailable, Message: "The policy is being deleted. Nothing was booked; repeat the request in a moment.",
}

var errSealed = &wire.Error{
	Code:    wire.Unavailable,
	Message: "The policy is being deleted, and its timers are cancelled. Nothing was changed; repeat the request in a moment.",
}

// closing decides whether a policy, or its URL, can be removed. Temporal's visibility lags
// behind, and every gateway books by a cached policy. So the policy takes no bookings while
// both may be out of date. Then the open timers are counted.
type closing struct {
	by                   *closer
	businessType, author string
	onOpenTimers         OnOpenTimers
	// refusal is the error for this number of open timers.
	refusal func(open int) error
	// ifVersion, when set, is the required version of the policy.
	ifVersion int
	// until marks the record that this closing has written.
	until wire.Instant
	// cancelling reports whether the timers are being cancelled now.
	cancelling bool
}

// decide returns once no timer is open, or the open ones were cancelled. Otherwise the
// policy takes bookings again.
func (c *closing) decide(ctx context.Context) error {
	if err := c.count(ctx); err != nil {
		return err
	}
	if err := c.close(ctx); err != nil {
		return err
	}
	err := c.awaitCounted(ctx)
	if err == nil {
		err = c.cancel(ctx)
	}
	if err != nil {
		c.reopen(ctx)
	}
	return err
}

// count refuses while timers are open, unless they will be cancelled.
func (c *closing) count(ctx context.Context) error {
	if c.onOpenTimers == OpenTimersCancel {
		return nil
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	open, err := c.by.kernel.Count(ctx, visibility.OpenTimers(c.businessType))
	if err == nil && open > 0 {
		err = c.refusal(open)
	}
	return err
}

// close makes the policy take no bookings. It makes no new version.
func (c *closing) close(ctx context.Context) error {
	c.until = wire.At(time.Now()).Add(c.by.bookingDelay() + 3*tuning.CallTimeout)
	for {
		err := c.mark(ctx, c.until)
		if err != stalePolicy || c.ifVersion != 0 { //nolint:errorlint // it is the value itself
			return err
		}
	}
}

func (c *closing) mark(ctx context.Context, until wire.Instant) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	record, open, err := c.by.entities.Record(ctx, c.businessType)
	if err != nil {
		return err
	}
	if !open {
		return noPolicy
	}
	if until == 0 && record.ClosedUntil != c.until { // it was changed since
		return nil
	}
	if record.SealedAt(wire.At(time.Now())) && record.ClosedUntil != c.until {
		return errSealed
	}
	if until != 0 && c.ifVersion != 0 && record.Policy.Version != c.ifVersion {
		return stalePolicy
	}
	record.ClosedUntil, record.Sealed = until, false
	return c.put(ctx, record)
}

func (c *closing) put(ctx context.Context, record workflows.PolicyRecord) error {
	defer c.by.cache.forget(c.businessType)
	return c.by.entities.replace(ctx, workflows.PutPolicy{Record: record, IfVersion: record.Policy.Version, Closing: c.until})
}

// seal keeps all others from changing the policy until it is deleted. A change after its
// timers are being cancelled would keep the policy, but not the timers.
func (c *closing) seal(ctx context.Context) error {
	record, open, err := c.by.entities.Record(ctx, c.businessType)
	if err != nil {
		return err
	}
	if !open || record.ClosedUntil != c.until {
		return errUncertain
	}
	record.Sealed = true
	if err := c.put(ctx, record); !errors.Is(err, stalePolicy) {
		return err
	}
	return errUncertain
}

// reopen makes the policy take bookings again. If that fails, the policy reopens by itself
// when its mark expires.
func (c *closing) reopen(ctx context.Context) {
	_ = c.mark(context.WithoutCancel(ctx), 0)
}

// awaitCounted waits until every booking must be counted, and visibility has proved that it
// shows new writes. Timers that appear meanwhile end the wait.
func (c *closing) awaitCounted(ctx context.Context) error {
	settled := time.NewTimer(c.by.bookingDelay())
	defer settled.Stop()
	poll := time.NewTicker(tuning.ClosingPoll)
	defer poll.Stop()
	for waiting := true; waiting; {
		select {
		case <-poll.C:
		case <-settled.C:
			waiting = false
		case <-ctx.Done():
			return kernel.Translate(ctx.Err())
		}
		if err := c.count(ctx); err != nil {
			return err
		}
	}
	return c.confirm(ctx)
}

// confirm checks that the policy is still closed, also in visibility.
func (c *closing) confirm(ctx context.Context) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	record, open, err := c.by.entities.Record(ctx, c.businessType)
	if err != nil {
		return err
	}
	response, err := c.by.kernel.List(ctx, visibility.OpenPolicy(c.businessType), tuning.MaxListed, nil)
	if err != nil {
		return err
	}
	for _, info := range response.GetExecutions() {
		shown, err := recordOf(info)
		if err == nil && open && shown.ClosedUntil == c.until && record.ClosedUntil == c.until {
			return nil
		}
	}
	return errUncertain
}

// errCancelling is the error of a deletion that can be neither finished nor undone.
func errCancelling(cause error) error {
	return &wire.Error{
		Code: wire.Unavailable, Cause: cause,
		Message: "The timers of the business type are being cancelled. The policy is not deleted yet; repeat the request.",
	}
}

var errUncertain = &wire.Error{
	Code:    wire.Unavailable,
	Message: "It is not certain yet whether the business type has open timers. Nothing was deleted; repeat the request.",
}

func (c *closing) cancel(ctx context.Context) error {
	if c.onOpenTimers != OpenTimersCancel {
		return nil
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	open, err := c.by.kernel.Count(ctx, visibility.OpenTimers(c.businessType))
	if err == nil && open == 0 {
		open, err = c.by.kernel.Count(ctx, visibility.ContinuedTimers(c.businessType, wire.At(time.Now())))
	}
	if err != nil || open == 0 {
		return err
	}
	if err := c.seal(ctx); err != nil {
		return err
	}
	err = c.by.cancelAll(ctx, c.businessType)
	c.cancelling = err == nil
	return err
}
