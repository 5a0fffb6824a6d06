package dispatch

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// run is a stint that this process carries out, or did a moment ago.
//
// Where its signs of life did not arrive in time, though the process lives, Temporal begins
// another attempt, often in the same process. If nobody else has told anything in between,
// that attempt is the same stint: it goes on with what it has under way, and repeats
// nothing.
type run struct {
	// number is that of the attempt that Temporal counts on.
	number atomic.Int32
	renew  chan renewal
	// over is closed once the stint has ended as end and err say.
	over  chan struct{}
	end   dispatch.Stint
	err   error
	ended time.Time
}

// renewal is another attempt at a stint that is being carried out.
type renewal struct {
	token  []byte
	number int32
}

// runID names the stint that an attempt is one of.
func runID(info activity.Info) string {
	return info.WorkflowExecution.ID + "/" + info.WorkflowExecution.RunID + "/" + info.ActivityID
}

// renewed goes on with a stint of this process, and returns it when it has ended. It is nil
// where there is none that may go on. told is the number of the attempt whose sign of life
// was the last.
func (e *Executor) renewed(ctx context.Context, info activity.Info, told int32) *run {
	e.mu.Lock()
	r := e.runs[runID(info)]
	e.mu.Unlock()
	if r == nil || told > r.number.Load() {
		return nil
	}
	select {
	case r.renew <- renewal{info.TaskToken, info.Attempt}:
	case <-r.over:
		if r.err != nil {
			return nil
		}
		return r // Temporal has not heard of its end
	case <-ctx.Done():
		return &run{err: ctx.Err()}
	}
	select {
	case <-r.over:
		return r
	case <-ctx.Done():
		return &run{err: ctx.Err()}
	}
}

// begin notes a stint.
func (e *Executor) begin(info activity.Info) *run {
	r := &run{renew: make(chan renewal), over: make(chan struct{})}
	r.number.Store(info.Attempt)
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, old := range e.runs {
		if !old.ended.IsZero() && time.Since(old.ended) > tuning.DispatchRenewal {
			delete(e.runs, id)
		}
	}
	e.runs[runID(info)] = r
	return r
}

// end notes how a stint ended.
func (e *Executor) end(r *run, end dispatch.Stint, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.end, r.err, r.ended = end, err, time.Now()
	close(r.over)
}

// renewedBy makes the stint that of another attempt.
func (s *stint) renewedBy(next renewal) {
	s.run.number.Store(next.number)
	s.token = next.token
	s.lease, s.lost, s.heard = time.Now().Add(s.silence*4/5), false, false
	s.beating, s.beatAt = false, time.Time{}
}
