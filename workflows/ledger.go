package workflows

import (
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
	return workflow.NewContinueAsNewError(ctx, TypeLedger, l.compact(wire.At(workflow.Now(ctx))))
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

// compact is the state for the next run, without types and senders that are no longer heard of.
func (l *ledger) compact(now wire.Instant) (next LedgerState) {
	next = LedgerState{Series: map[string]slo.Series{}, Senders: map[string]LedgerStamp{}}
	//workflowcheck:ignore Their order tells nothing.
	for businessType, series := range l.series {
		if kept := series.Compact(now); len(kept) > 0 {
			next.Series[businessType] = kept
		}
	}
	//workflowcheck:ignore Their order tells nothing.
	for sender, stamp := range l.senders {
		if stamp.At.Add(tuning.LedgerSenderLife) > now {
			next.Senders[sender] = stamp
		}
	}
	return next
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
