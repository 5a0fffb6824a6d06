package dispatch

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// session is a shard run that this process carries out, or did a moment ago.
//
// If its heartbeats are late though the process lives, Temporal begins another attempt,
// often in the same process. If no other process has sent a heartbeat since, that attempt is
// the same run: it continues the work under way, and repeats nothing.
type session struct {
	// number is the number of the attempt that Temporal counts on.
	number atomic.Int32
	renew  chan renewal
	// ended is closed once the run has ended, with result and err, at endedAt.
	ended   chan struct{}
	result  dispatch.ShardRunResult
	err     error
	endedAt time.Time
}

// renewal is another attempt at a run that is being carried out.
type renewal struct {
	token  []byte
	number int32
}

// sessionID names the run of an attempt.
func sessionID(info activity.Info) string {
	return info.WorkflowExecution.ID + "/" + info.WorkflowExecution.RunID + "/" + info.ActivityID
}

// resume continues a run of this process, and returns it when it has ended. It returns nil
// if no run may continue. last is the number of the attempt that sent the last heartbeat.
func (e *Executor) resume(ctx context.Context, info activity.Info, last int32) *session {
	e.mu.Lock()
	s := e.sessions[sessionID(info)]
	e.mu.Unlock()
	if s == nil || last > s.number.Load() {
		return nil
	}
	select {
	case s.renew <- renewal{info.TaskToken, info.Attempt}:
	case <-s.ended:
		if s.err != nil {
			return nil
		}
		return s // Temporal does not know of its end yet
	case <-ctx.Done():
		return &session{err: ctx.Err()}
	}
	select {
	case <-s.ended:
		return s
	case <-ctx.Done():
		return &session{err: ctx.Err()}
	}
}

// beginSession registers a run that begins.
func (e *Executor) beginSession(info activity.Info) *session {
	s := &session{renew: make(chan renewal), ended: make(chan struct{})}
	s.number.Store(info.Attempt)
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, old := range e.sessions {
		if !old.endedAt.IsZero() && time.Since(old.endedAt) > tuning.DispatchRenewal {
			delete(e.sessions, id)
		}
	}
	e.sessions[sessionID(info)] = s
	return s
}

// endSession records how a run ended.
func (e *Executor) endSession(s *session, result dispatch.ShardRunResult, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.result, s.err, s.endedAt = result, err, time.Now()
	close(s.ended)
}
