package workflows

import (
	"cmp"
	"maps"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// LedgerState is what a ledger knows.
type LedgerState struct {
	// Series are the counts by business type.
	Series map[string]slo.Series `json:"series,omitempty"`
	// Senders are the last entries of the processes that count, by process.
	Senders map[string]LedgerStamp `json:"senders,omitempty"`
}

// LedgerStamp identifies an entry of a process.
type LedgerStamp struct {
	// Number counts the entries of the process, from 1.
	Number int          `json:"number"`
	At     wire.Instant `json:"at"`
}

// LedgerEntry has the counts of a process since its entry before.
type LedgerEntry struct {
	LedgerStamp
	Sender string                `json:"sender"`
	Counts map[string]slo.Counts `json:"counts"`
}

// LedgerAnswer answers [QueryLedger].
type LedgerAnswer struct {
	Series map[string]slo.Series `json:"series"`
	// RecordedAt is when the last entry was recorded; zero for never.
	RecordedAt wire.Instant `json:"recorded_at,omitzero"`
}

// Ledger is the entity that holds the counts of many business types. It records an entry once,
// also where its sender repeats it because the answer was lost.
func Ledger(ctx workflow.Context, state LedgerState) error {
	l := &ledger{series: maps.Clone(state.Series), senders: maps.Clone(state.Senders)}
	if l.series == nil {
		l.series = map[string]slo.Series{}
	}
	if l.senders == nil {
		l.senders = map[string]LedgerStamp{}
	}
	if err := workflow.SetQueryHandler(ctx, QueryLedger, l.answer); err != nil {
		return err
	}
	entries := workflow.GetSignalChannel(ctx, SignalLedger)
	for applied := 0; applied < tuning.LedgerEntries && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); {
		if err := workflow.Await(ctx, func() bool { return entries.Len() > 0 }); err != nil {
			return err
		}
		var entry LedgerEntry
		for entries.ReceiveAsync(&entry) {
			l.record(entry)
			entry = LedgerEntry{}
			applied++
		}
	}
	next, dropped := l.compact(wire.At(workflow.Now(ctx)))
	if dropped > 0 {
		workflow.GetLogger(ctx).Warn("a ledger has no room for the counts of all business types, and has dropped those of some", "types", dropped)
	}
	return workflow.NewContinueAsNewError(ctx, TypeLedger, next)
}

type ledger struct {
	series  map[string]slo.Series
	senders map[string]LedgerStamp
}

func (l *ledger) record(entry LedgerEntry) {
	if entry.Number <= l.senders[entry.Sender].Number {
		return
	}
	l.senders[entry.Sender] = entry.LedgerStamp
	//workflowcheck:ignore Each has a series of its own.
	for businessType, counts := range entry.Counts {
		l.series[businessType] = slices.Clone(l.series[businessType]).Record(entry.At, counts)
	}
}

// compact is the state for the next run, without types and senders that are no longer heard of. It
// has room for very many types by joining their hours and days, and in the end drops the
// types that it has not heard of for longest. dropped is how many these are. Temporal does not
// take a larger state, and would leave the ledger as it is for ever.
func (l *ledger) compact(now wire.Instant) (next LedgerState, dropped int) {
	next.Senders = map[string]LedgerStamp{}
	//workflowcheck:ignore Their order tells nothing.
	for sender, stamp := range l.senders {
		if stamp.At.Add(tuning.LedgerSenderLife) > now {
			next.Senders[sender] = stamp
		}
	}
	for _, resolution := range slo.Resolutions {
		if next.Series = l.seriesAt(resolution, now); bytesOf(next.Series) <= tuning.LedgerBytes {
			return next, 0
		}
	}
	all := len(next.Series)
	next.Series = fitting(next.Series)
	return next, all - len(next.Series)
}

func (l *ledger) seriesAt(resolution slo.Resolution, now wire.Instant) map[string]slo.Series {
	series := map[string]slo.Series{}
	//workflowcheck:ignore Their order tells nothing.
	for businessType, counted := range l.series {
		if kept := counted.Compact(now, resolution); len(kept) > 0 {
			series[businessType] = kept
		}
	}
	return series
}

// fitting are the types that were heard of last, as many as there is room for.
func fitting(series map[string]slo.Series) map[string]slo.Series {
	last := func(businessType string) slo.Interval { return series[businessType][len(series[businessType])-1] }
	names := make([]string, 0, len(series))
	//workflowcheck:ignore They are sorted.
	for businessType := range series {
		names = append(names, businessType)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := last(a), last(b)
		return cmp.Or(cmp.Compare(y.To, x.To), cmp.Compare(y.Rung+y.Booked, x.Rung+x.Booked), cmp.Compare(a, b))
	})
	kept, bytes := map[string]slo.Series{}, 0
	for _, businessType := range names {
		if bytes += bytesOfType(businessType, series[businessType]); bytes > tuning.LedgerBytes {
			break
		}
		kept[businessType] = series[businessType]
	}
	return kept
}

func bytesOf(series map[string]slo.Series) (bytes int) {
	//workflowcheck:ignore Their order tells nothing.
	for businessType, counted := range series {
		bytes += bytesOfType(businessType, counted)
	}
	return bytes
}

func bytesOfType(businessType string, series slo.Series) int {
	return len(businessType) + series.Bytes()
}

// answer returns the series of some business types, or of all where none is named.
func (l *ledger) answer(businessTypes []string) (LedgerAnswer, error) {
	answer := LedgerAnswer{Series: map[string]slo.Series{}}
	for _, stamp := range l.senders {
		answer.RecordedAt = max(answer.RecordedAt, stamp.At)
	}
	if len(businessTypes) == 0 {
		answer.Series = l.series
		return answer, nil
	}
	for _, businessType := range businessTypes {
		if series, known := l.series[businessType]; known {
			answer.Series[businessType] = series
		}
	}
	return answer, nil
}
