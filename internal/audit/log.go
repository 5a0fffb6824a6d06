package audit

import "errors"

// ErrClosed says that calls cannot be recorded, so that none is carried out.
var ErrClosed = errors.New("calls cannot be recorded")

// Log keeps one record of each call that changes something. Its nil value keeps none.
type Log struct{ sinks []Sink }

// Sink is one of the places where records are kept.
type Sink interface {
	// Begin notes that a call is about to be carried out, as far as it is known. Its error
	// keeps the call from that.
	Begin(intent *Record) (Open, error)
	// Close writes what has not been written.
	Close() error
}

// Open is a call that is being carried out.
type Open interface {
	// End keeps the record of the call.
	End(record *Record)
	// Abandon says that the call is not carried out after all.
	Abandon()
}

// NewLog returns a log that keeps each record in all of the sinks.
func NewLog(sinks ...Sink) *Log { return &Log{sinks} }

// Begin notes that a call is about to be carried out. end must be called with what it came
// to. The error keeps the call from being carried out.
func (l *Log) Begin(intent *Record) (end func(*Record), err error) {
	if l == nil {
		return func(*Record) {}, nil
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
	return func(record *Record) {
		for _, one := range open {
			one.End(record)
		}
	}, nil
}

// On reports whether records are kept at all.
func (l *Log) On() bool { return l != nil }

// Close writes what has not been written.
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
