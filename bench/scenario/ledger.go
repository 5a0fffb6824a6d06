package scenario

import (
	"sync"
	"time"
)

// Calls are measured calls to a subject.
type Calls struct {
	// Made is the number of calls, Failed the number of failed ones, and Timers the number
	// of booked timers.
	Made, Failed, Timers int
	Elapsed              time.Duration
	// Latency counts from the intended moment of the call.
	Latency []time.Duration
	// Tenths divide the time until the last timer.
	Tenths []Tenth
	// Answers counts the answers to changes.
	Answers map[string]int
	// Failure is the first one.
	Failure string
}

// ledger counts calls, for many goroutines.
type ledger struct {
	mu    sync.Mutex
	calls Calls
}

// record records a call that booked some timers, even if it should have booked more.
func (l *ledger) record(booked int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.Made++
	l.calls.Timers += booked
	if err == nil {
		return
	}
	l.calls.Failed++
	if l.calls.Failure == "" {
		l.calls.Failure = err.Error()
	}
}

// recordAt records a call that should book one timer at the given moment.
func (l *ledger) recordAt(intended time.Time, err error) {
	latency := time.Since(intended)
	l.record(one(err), err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.Latency = append(l.calls.Latency, latency)
}

// one is the number of timers that a call for a single one has booked.
func one(err error) int {
	if err != nil {
		return 0
	}
	return 1
}

// answered counts the answer of a change.
func (l *ledger) answered(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls.Answers == nil {
		l.calls.Answers = map[string]int{}
	}
	l.calls.Answers[what]++
}

func (l *ledger) close(begin time.Time) Calls {
	l.calls.Elapsed = time.Since(begin)
	return l.calls
}
