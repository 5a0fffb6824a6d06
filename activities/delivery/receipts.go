package delivery

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// receipts remember, by run id, what the fast path did, so that a run is called
// once however often its task is handed out. Of the attempts on the queue they remember
// the last one of each run.
type receipts struct {
	done *lru.Cache[string, delivery.Report]

	mu      sync.Mutex
	current map[string]*underWay
}

// underWay is an attempt whose end can be waited for.
type underWay struct {
	ended  chan struct{}
	report delivery.Report
	err    error
}

func newReceipts() (*receipts, error) {
	done, err := lru.New[string, delivery.Report](tuning.Receipts)
	return &receipts{done: done, current: map[string]*underWay{}}, err
}

// once returns the receipt of a run, or makes the attempt. An attempt of the
// run that is under way already is joined. One that fails leaves no receipt,
// nor does a timer that was let go.
func (r *receipts) once(run string, attempt func() (delivery.Report, error)) (report delivery.Report, repeated bool, err error) {
	u, mine := r.enter(run)
	if !mine {
		<-u.ended
		return u.report, true, u.err
	}
	u.report, u.err = attempt()
	r.leave(run, u)
	return u.report, false, u.err
}

// find returns the receipt of a run, waiting for an attempt that is under way,
// or a report that none was made.
func (r *receipts) find(ctx context.Context, run string) (delivery.Report, error) {
	r.mu.Lock()
	u := r.current[run]
	report, ok := r.done.Get(run)
	r.mu.Unlock()
	switch {
	case ok:
		return report, nil
	case u == nil:
		return delivery.Report{Result: delivery.ResultUseQueue}, nil
	}
	select {
	case <-u.ended:
		return u.report, u.err
	case <-ctx.Done():
		return delivery.Report{}, ctx.Err()
	}
}

// has is whether an attempt of the run is under way, or has left a receipt.
func (r *receipts) has(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current[run] != nil || r.done.Contains(run)
}

// LeaveReceipts sends what came of attempts to those of their runs that have not recorded
// it: this process stops, and may be the only one, so nobody asks it. A run that cannot be
// told is called again, as after a crash.
func (a *Attempter) LeaveReceipts(ctx context.Context) {
	var leaving errgroup.Group
	leaving.SetLimit(tuning.ReceiptsAtOnce)
	for run, workflowID := range a.Tasks.Unrecorded() {
		if report, ok := a.receipts.recall(run); ok {
			leaving.Go(func() error { return a.Runs.LeaveReceipt(ctx, workflowID, run, report) })
		}
	}
	_ = leaving.Wait() // most have been recorded by another worker, and have ended
}

// keep remembers a report, and recall returns it.
func (r *receipts) keep(name string, report delivery.Report) { r.done.Add(name, report) }

func (r *receipts) recall(name string) (delivery.Report, bool) { return r.done.Get(name) }

// enter begins an attempt; mine is false when it is made or under way already.
func (r *receipts) enter(run string) (u *underWay, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u, ok := r.current[run]; ok {
		return u, false
	}
	u = &underWay{ended: make(chan struct{})}
	if report, ok := r.done.Get(run); ok {
		u.report = report
		close(u.ended)
		return u, false
	}
	r.current[run] = u
	return u, true
}

func (r *receipts) leave(run string, u *underWay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u.err == nil && !u.report.Result.Released() {
		r.done.Add(run, u.report)
	}
	delete(r.current, run)
	close(u.ended)
}
