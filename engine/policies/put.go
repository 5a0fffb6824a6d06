package policies

import (
	"context"
	"errors"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Change is a policy to be stored.
type Change struct {
	Policy policy.Policy
	// Edit, when set, makes the change from the stored policy, masked, or from one without a
	// version if there is none. Policy then names only the type.
	Edit func(stored policy.Policy) (Change, error)
	// IfVersion, when set, must be the stored version; MustExist requires one, and MustBeNew
	// requires none.
	IfVersion int
	MustExist bool
	MustBeNew bool
	// KeepSecrets, KeepHeaders and KeepFallbackHeaders keep write-only values that were left
	// out.
	KeepSecrets         bool
	KeepHeaders         []string
	KeepFallbackHeaders []string
	// KeepFrom, when set, is the version whose header values and client key are kept. Signing secrets are
	// kept from the last version, so that none comes back that was replaced.
	KeepFrom int
	Author   string
	// DryRun returns the changes without storing them.
	DryRun bool

	reach delivery.Reach
	// from is the policy in the version KeepFrom.
	from policy.Policy
}

// Result is the result of a change.
type Result struct {
	Policy policy.Policy
	// Created reports whether the business type had no policy.
	Created bool
	// Changes are empty if the policy already has this content; its version stays.
	Changes []policy.Difference
}

var (
	stalePolicy = &wire.Error{
		Code: wire.PreconditionFailed, Message: "The version of the policy is not the one in If-Match.",
	}
	policyExists = &wire.Error{
		Code: wire.PreconditionFailed, Message: "The policy exists already, and If-None-Match requires that it does not.",
	}
)

// Writer stores policies.
type Writer struct {
	entities *entities
	secrets  secrets
	changes  *Changes
	cache    *policyCache
	reach    delivery.Reach
	closer   *closer
}

// Put stores a policy. A new policy needs no worker. A replacement does, since the worker
// decides between competing changes. The errors are [wire.InvalidRequest],
// [wire.PreconditionFailed], [wire.PolicyInUse] if open timers may need the URL that it
// removes, and [wire.Unavailable].
func (w *Writer) Put(ctx context.Context, change Change) (Result, error) {
	err := change.Policy.Check().Err()
	if err := policy.CheckReach(w.reach, change.Policy, policy.Policy{}).Join(err); err != nil {
		return Result{}, err
	}
	change.reach = w.reach
	if change.KeepFrom != 0 {
		if change.from, err = w.version(ctx, change.Policy.BusinessType, change.KeepFrom); err != nil {
			return Result{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, w.closer.bookingDelay()+tuning.CallTimeout)
	defer cancel()
	defer w.cache.forget(change.Policy.BusinessType)
	for {
		result, err := w.putOnce(ctx, change)
		// Without If-Match the last writer wins: it tries again. So does one that must be
		// new, to see what came first.
		if !errors.Is(err, stalePolicy) || change.MustExist || change.IfVersion != 0 {
			return result, err
		}
	}
}

// version reads a policy as it was in one version, its secrets opened.
func (w *Writer) version(ctx context.Context, businessType string, number int) (policy.Policy, error) {
	all, err := w.changes.Versions(ctx, businessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return policy.Policy{}, err
	}
	for _, one := range all {
		if one.Version == number && one.Policy != nil {
			return w.secrets.open(*one.Policy), nil
		}
	}
	return policy.Policy{}, wire.FieldErrors{{
		Pointer: "keep_from", Code: wire.CodeInvalidParameter, Detail: "Temporal no longer has this version of the policy, or it never was",
	}}.Err()
}

// putOnce stores a change on the version that it read.
func (w *Writer) putOnce(ctx context.Context, change Change) (Result, error) {
	record, open, err := w.entities.Record(ctx, change.Policy.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return Result{}, err
	}
	if open && record.SealedAt(wire.At(time.Now())) {
		return Result{}, errSealed
	}
	old := w.secrets.open(record.Policy)
	if (change.MustExist && !open) || (change.IfVersion != 0 && (!open || change.IfVersion != old.Version)) {
		return Result{}, stalePolicy
	}
	if open && change.MustBeNew {
		return Result{}, policyExists
	}
	last := old
	if !open { // versions go on after a deletion: an ETag never comes twice
		old = policy.Policy{StreamedUntil: old.LastStreamed(wire.At(time.Now()))}
	}
	next, err := change.over(old, change.keeps(old, last))
	if err != nil {
		return Result{}, err
	}
	next.Version = last.Version + 1
	result := Result{Policy: next, Created: !open, Changes: policy.Differences(old, next)}
	if open && len(result.Changes) == 0 {
		result.Policy = old
		return result, nil
	}
	put := workflows.PutPolicy{Record: workflows.PolicyRecord{
		Policy: next, ChangedAt: wire.At(time.Now()), ChangedBy: change.Author, Who: audit.Who(ctx, next.BusinessType),
	}, IfVersion: last.Version}
	switch takesURL := old.Callback.Addressed() && !next.Callback.Addressed(); {
	case takesURL:
		return result, w.storeUnaddressed(ctx, put, change.DryRun)
	case change.DryRun:
		return result, nil
	default:
		return result, w.store(ctx, put, open)
	}
}

// storeUnaddressed removes the URL, unless open timers may need it. Which timers have a URL of
// their own is unknown without a look at each. The policy is closed until all bookings are
// counted.
func (w *Writer) storeUnaddressed(ctx context.Context, put workflows.PutPolicy, dryRun bool) error {
	closing := &closing{by: w.closer, businessType: put.Record.Policy.BusinessType, refusal: func(open int) error {
		return &wire.Error{Code: wire.PolicyInUse, Message: "The business type has open timers: " + strconv.Itoa(open) +
			". They may need the callback.url. Keep it, or delete the policy with timers=cancel or timers=keep."}
	}}
	if dryRun {
		return closing.count(ctx)
	}
	if err := closing.decide(ctx); err != nil {
		return err
	}
	err := w.store(ctx, put, true)
	if err != nil {
		closing.reopen(ctx)
	}
	return err
}

// kept are the policies whose write-only values a change keeps.
type kept struct {
	// headers is the one of the header values and the client key, and secrets that of the signing secrets.
	headers, secrets policy.Policy
}

// keeps are the policies from which a change keeps values: the replaced one, or an earlier version and the last
// one, even if that was deleted.
func (c Change) keeps(replaced, last policy.Policy) kept {
	if c.KeepFrom == 0 {
		return kept{replaced, replaced}
	}
	return kept{c.from, last}
}

// over completes the change with what it keeps of policies that were.
func (c Change) over(old policy.Policy, keep kept) (policy.Policy, error) {
	if c.Edit != nil {
		edited, err := c.Edit(old.Mask())
		if err == nil {
			err = policy.CheckReach(c.reach, edited.Policy, old).Join(edited.Policy.Check().Err())
		}
		if err != nil {
			return policy.Policy{}, err
		}
		c.Policy, c.KeepSecrets, c.KeepHeaders = edited.Policy, edited.KeepSecrets, edited.KeepHeaders
		c.KeepFallbackHeaders = edited.KeepFallbackHeaders
	}
	next := c.Policy.WithDefaults()
	errs := append(next.KeepHeaders(keep.headers, c.KeepHeaders), next.KeepFallbackHeaders(keep.headers, c.KeepFallbackHeaders)...)
	if c.KeepSecrets {
		errs = append(errs, next.KeepSecrets(keep.secrets)...)
	}
	errs = append(errs, next.KeepClientKey(keep.headers)...)
	now := wire.At(time.Now())
	next = next.NextVersion(old, now).RecordPause(c.Author, old, now)
	return next, append(errs, next.CheckSigners(old)...).Join(next.Check().Err())
}

func (w *Writer) store(ctx context.Context, put workflows.PutPolicy, open bool) (err error) {
	if put.Record.Policy, err = w.secrets.seal(put.Record.Policy); err != nil {
		return err
	}
	if open {
		return w.entities.replace(ctx, put)
	}
	return w.entities.startEntity(ctx, put.Record, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
}
