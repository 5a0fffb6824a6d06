package ledger

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Policies have the promises of the business types.
type Policies interface {
	LastRead(businessType string) policy.Policy
	Cached(ctx context.Context, businessType string) (policy.Policy, error)
	List(ctx context.Context) ([]policy.Policy, error)
}

// Stats count timers.
type Stats interface {
	Count(ctx context.Context, businessType string) (timer.Stats, error)
	CountWith(ctx context.Context, further []string) (timer.Stats, error)
}

// Ledgers reads the counts of all processes.
type Ledgers struct {
	kernel   *kernel.Kernel
	policies Policies
	stats    Stats
}

// New returns the ledgers of a namespace.
func New(k *kernel.Kernel, policies Policies, stats Stats) *Ledgers {
	return &Ledgers{kernel: k, policies: policies, stats: stats}
}

// Request selects counts.
type Request struct {
	// BusinessType is "" for all types.
	BusinessType string
	// Window is how far to look back.
	Window time.Duration
	// Target is the share of timers that are to ring on time, above 0 and below 1.
	Target float64
}

// Reports are the reports of business types, by name.
type Reports struct {
	// RecordedAt is when a process last handed over counts to the ledgers that were read, and zero
	// for never. What was counted since is missing.
	RecordedAt    wire.Instant `json:"recorded_at,omitzero"`
	BusinessTypes []slo.Report `json:"business_types"`
}

// Read sums up the window before now, for the types that are seen: the one that is asked for, or
// those that have a policy or counts. A type is reported alike both ways. It needs a worker; the error is [wire.Unavailable] otherwise.
func (l *Ledgers) Read(ctx context.Context, r Request, sees func(businessType string) bool) (Reports, error) {
	answer, err := l.series(ctx, r.BusinessType)
	if err != nil {
		return Reports{}, err
	}
	reports, now := Reports{RecordedAt: answer.RecordedAt, BusinessTypes: []slo.Report{}}, wire.At(time.Now())
	open, onTime := l.open(ctx, r.BusinessType, answer.Series), l.promises(ctx, r.BusinessType)
	for _, businessType := range reported(r, answer.Series, open) {
		if !sees(businessType) {
			continue
		}
		objective := slo.Objective{OnTime: wire.Duration(onTime(businessType)), Target: r.Target}
		report := answer.Series[businessType].Report(businessType, objective, now, r.Window)
		report.Open = open[businessType]
		reports.BusinessTypes = append(reports.BusinessTypes, report)
	}
	return reports, nil
}

// reported are the business types of a report, in order. A type without counts may have open timers.
func reported(r Request, series map[string]slo.Series, open map[string]*int64) []string {
	if r.BusinessType != "" {
		return []string{r.BusinessType}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(series)), maps.Keys(open))
	slices.Sort(names)
	return slices.Compact(names)
}

// promises is how late first attempts may be, by the policies as they are now. A process that
// attempts nothing of a type may never have read its policy, or long ago. If Temporal does not tell,
// it is by the policy as it was last read.
func (l *Ledgers) promises(ctx context.Context, businessType string) func(businessType string) time.Duration {
	lastRead := func(businessType string) time.Duration { return OnTime(l.policies.LastRead(businessType)) }
	if businessType != "" {
		_, _ = l.policies.Cached(ctx, businessType) // from now on it is the one that was last read
		return lastRead
	}
	listed, err := l.policies.List(ctx)
	if err != nil {
		return lastRead
	}
	known := map[string]policy.Policy{}
	for _, one := range listed {
		known[one.BusinessType] = one
	}
	return func(businessType string) time.Duration { return OnTime(known[businessType]) }
}

// OnTime is how late the first attempt of a timer with a policy may be, or of one without.
func OnTime(p policy.Policy) time.Duration {
	if onTime := p.OnTime.D(); onTime != 0 {
		return onTime
	}
	return policy.DefaultOnTime
}

// open counts the open timers of a business type or, for "", of each type with a policy or counts.
// It is empty if visibility does not answer.
func (l *Ledgers) open(ctx context.Context, businessType string, series map[string]slo.Series) map[string]*int64 {
	stats, err := l.count(ctx, businessType, series)
	if err != nil {
		return nil
	}
	open := map[string]*int64{}
	for _, one := range stats.BusinessTypes {
		n := int64(one.Timers.Scheduled + one.Timers.Paused + one.Timers.Delivering)
		open[one.BusinessType] = &n
	}
	return open
}

func (l *Ledgers) count(ctx context.Context, businessType string, series map[string]slo.Series) (timer.Stats, error) {
	if businessType != "" {
		return l.stats.Count(ctx, businessType)
	}
	return l.stats.CountWith(ctx, slices.Sorted(maps.Keys(series)))
}

// series are those of a business type, or of all types for "".
func (l *Ledgers) series(ctx context.Context, businessType string) (workflows.LedgerAnswer, error) {
	if businessType != "" {
		return l.query(ctx, workflows.LedgerOf(businessType), businessType)
	}
	all := workflows.LedgerAnswer{Series: map[string]slo.Series{}}
	for number := range tuning.Ledgers {
		answer, err := l.query(ctx, number)
		if err != nil {
			return all, err
		}
		all.RecordedAt = max(all.RecordedAt, answer.RecordedAt)
		maps.Copy(all.Series, answer.Series)
	}
	return all, nil
}

// query asks a ledger for the series of some business types, or of all its types.
func (l *Ledgers) query(ctx context.Context, number int, businessTypes ...string) (answer workflows.LedgerAnswer, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	value, err := l.kernel.Client.QueryWorkflow(ctx, workflows.LedgerID(number), "", workflows.QueryLedger, businessTypes)
	if errtype.Is[*serviceerror.NotFound](err) {
		return answer, nil
	}
	if err != nil {
		return answer, kernel.Translate(err)
	}
	return answer, value.Get(&answer)
}
