package receipts

import (
	"context"
	"errors"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Store holds receipts by name: a run id for the fast path, and another name for the
// attempts on the queue. It holds [tuning.Receipts] of them and forgets the oldest. It is
// safe for concurrent use.
type Store struct {
	done *lru.Cache[string, delivery.Report]

	mu      sync.Mutex
	current map[string]*call
}

// call is an attempt under way. Others can wait for its end.
type call struct {
	ended  chan struct{}
	report delivery.Report
	err    error
}

// New returns an empty Store.
func New() (*Store, error) {
	done, err := lru.New[string, delivery.Report](tuning.Receipts)
	return &Store{done: done, current: map[string]*call{}}, err
}

// errUnfinished is the error of those that joined an attempt, if the attempt panics.
var errUnfinished = errors.New("the attempt did not end")

// Once returns the receipt of a run, or makes the attempt. It joins an attempt of the run
// that is under way. repeated reports either case. A failed attempt and a released timer
// leave no receipt, nor does an attempt that panics.
func (s *Store) Once(run string, attempt func() (delivery.Report, error)) (report delivery.Report, repeated bool, err error) {
	c, mine := s.beginCall(run)
	if !mine {
		<-c.ended
		return c.report, true, c.err
	}
	c.err = errUnfinished // unless the attempt returns
	defer s.endCall(run, c)
	c.report, c.err = attempt()
	return c.report, false, c.err
}

// Wait returns the receipt of a run, after an attempt that is under way. Without either it
// returns a report with [delivery.ResultUseQueue].
func (s *Store) Wait(ctx context.Context, run string) (delivery.Report, error) {
	s.mu.Lock()
	c := s.current[run]
	report, ok := s.done.Get(run)
	s.mu.Unlock()
	switch {
	case ok:
		return report, nil
	case c == nil:
		return delivery.Report{Result: delivery.ResultUseQueue}, nil
	}
	select {
	case <-c.ended:
		return c.report, c.err
	case <-ctx.Done():
		return delivery.Report{}, ctx.Err()
	}
}

// Has reports whether an attempt of the run is under way, or has left a receipt.
func (s *Store) Has(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current[run] != nil || s.done.Contains(run)
}

// Put stores a receipt.
func (s *Store) Put(name string, report delivery.Report) { s.done.Add(name, report) }

// Get returns a stored receipt.
func (s *Store) Get(name string) (delivery.Report, bool) { return s.done.Get(name) }

// beginCall begins an attempt. mine is false if the attempt is made or under way already.
func (s *Store) beginCall(run string) (c *call, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.current[run]; ok {
		return c, false
	}
	c = &call{ended: make(chan struct{})}
	if report, ok := s.done.Get(run); ok {
		c.report = report
		close(c.ended)
		return c, false
	}
	s.current[run] = c
	return c, true
}

func (s *Store) endCall(run string, c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.err == nil && !c.report.Result.Released() {
		s.done.Add(run, c.report)
	}
	delete(s.current, run)
	close(c.ended)
}
