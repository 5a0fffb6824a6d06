package audit

import (
	"errors"

	"github.com/wakecall/wakecall/core/trail"
)

// ErrClosed means that calls cannot be recorded. No call is then carried out.
var ErrClosed = errors.New("calls cannot be recorded")

// Log stores one record of each changing call. A nil Log stores none.
type Log struct{ sinks []Sink }

// Sink is one of the destinations of records.
type Sink interface {
	// Begin records that a call is about to be carried out. Its error prevents the call.
	Begin(intent *trail.Record) (Open, error)
	// Close writes the unwritten records.
	Close() error
}

// Open is a call in progress.
type Open interface {
	// End stores the record of the call.
	End(record *trail.Record)
	// Abandon withdraws a call that is not carried out.
	Abandon()
}

// NewLog returns a log that stores each record in all of the sinks.
func NewLog(sinks ...Sink) *Log { return &Log{sinks} }

// Begin records that a call is about to be carried out. The caller must call end with the
// result. An error prevents the call.
func (l *Log) Begin(intent *trail.Record) (end func(*trail.Record), err error) {
	if l == nil {
		return func(*trail.Record) {}, nil
	}
	open := make([]Open, 0, len(l.sinks))
	for _, sink := range l.sinks {
		one, err := sink.Begin(intent)
		if err != nil {
			for _, begun := range open {
				begun.Abandon()
			}
			return nil, errors.Join(ErrClosed, err)
		}
		open = append(open, one)
	}
	return func(record *trail.Record) {
		for _, one := range open {
			one.End(record)
		}
	}, nil
}

// On reports whether records are stored at all.
func (l *Log) On() bool { return l != nil }

// Close writes the unwritten records.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	var all []error
	for _, sink := range l.sinks {
		all = append(all, sink.Close())
	}
	return errors.Join(all...)
}
