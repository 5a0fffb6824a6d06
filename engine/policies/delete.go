package policies

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// OnOpenTimers is what happens to the open timers of a deleted policy.
type OnOpenTimers string

// The closed list of options.
const (
	// OpenTimersRefuse refuses the deletion while timers are open.
	OpenTimersRefuse OnOpenTimers = ""
	// OpenTimersCancel cancels them with a bulk job.
	OpenTimersCancel OnOpenTimers = "cancel"
	// OpenTimersKeep keeps them. A timer without its own callback has no receiver when it is
	// due, and waits for a new policy.
	OpenTimersKeep OnOpenTimers = "keep"
)

// Known reports whether it is one of the list.
func (o OnOpenTimers) Known() bool {
	return o == OpenTimersRefuse || o == OpenTimersCancel || o == OpenTimersKeep
}

// Deletion describes a policy to delete.
type Deletion struct {
	BusinessType, Author string
	OnOpenTimers         OnOpenTimers
	// IfVersion, when set, must be the stored version.
	IfVersion int
}

// Deleter deletes policies.
type Deleter struct {
	entities *entities
	cache    *policyCache
	closer   *closer
}

// Delete deletes a policy, and its limits. It needs a worker. Unless the timers are kept, it
// refuses bookings until all earlier ones are counted: this takes the cache's TTL for
// policies, and two seconds. The errors are [wire.NotFound], [wire.PreconditionFailed],
// [wire.PolicyInUse] for open timers without an option, and [wire.Unavailable], also if the
// count of open timers is uncertain.
func (p *Deleter) Delete(ctx context.Context, d Deletion) error {
	ctx, cancel := context.WithTimeout(ctx, p.closer.bookingDelay()+2*tuning.CallTimeout)
	defer cancel()
	if err := p.meets(ctx, d); err != nil {
		return err
	}
	if d.OnOpenTimers == OpenTimersKeep && d.IfVersion == 0 {
		return p.drop(ctx, d, 0)
	}
	closing := &closing{
		by: p.closer, businessType: d.BusinessType, author: d.Author, onOpenTimers: d.OnOpenTimers, refusal: inUse, ifVersion: d.IfVersion,
	}
	if err := p.deleteClosed(ctx, d, closing); err != errUncertain { //nolint:errorlint // it is the value itself
		return err
	}
	// A change that came meanwhile is a certain reason.
	if err := p.meets(ctx, d); err != nil {
		return err
	}
	return errUncertain
}

// meets refuses if the policy is missing or has another version.
func (p *Deleter) meets(ctx context.Context, d Deletion) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	record, err := p.entities.current(ctx, d.BusinessType)
	if err == nil && d.IfVersion != 0 && record.Policy.Version != d.IfVersion {
		err = stalePolicy
	}
	return err
}

// deleteClosed deletes a policy in its closed state.
func (p *Deleter) deleteClosed(ctx context.Context, d Deletion, c *closing) error {
	var err error
	if d.OnOpenTimers == OpenTimersKeep {
		err = c.close(ctx) // nothing is counted
	} else {
		err = c.decide(ctx)
	}
	if err != nil {
		return err
	}
	if err = p.drop(ctx, d, c.until); err == nil {
		return nil
	}
	c.reopen(ctx)
	if c.cancelling {
		return errCancelling(err)
	}
	return err
}

func inUse(open int) error {
	return &wire.Error{Code: wire.PolicyInUse, Message: "The business type has open timers: " + strconv.Itoa(open) +
		". Send timers=cancel or timers=keep."}
}

// drop deletes the policy closed until then, or the present one for 0.
func (p *Deleter) drop(ctx context.Context, d Deletion, closedUntil wire.Instant) error {
	defer p.cache.forget(d.BusinessType)
	args := []any{d.Author}
	if closedUntil != 0 {
		args = append(args, closedUntil)
	}
	err := p.entities.updateEntity(ctx, d.BusinessType, workflows.UpdateDeletePolicy, args...)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == workflows.ErrorVersion {
		return errUncertain
	}
	return err
}

// cancelAll has the open timers of a type cancelled, at the rate of a bulk job. Temporal's own
// batches would cancel the runs that they found. Each occurrence and each change ends a run.
func (c *closer) cancelAll(ctx context.Context, businessType string) error {
	now := wire.At(time.Now())
	return c.orderBulk(ctx, job.Bulk{
		ID: job.OwnID + businessType + ":" + strconv.FormatInt(int64(now), 10), Operation: job.Cancel,
		Filter: timer.Filter{BusinessType: businessType}, PerSecond: job.MaxRate, BookedBefore: now,
	})
}
