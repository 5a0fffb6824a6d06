package scenario

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
)

const (
	// clients is the number of concurrent clients at the highest load.
	clients = 64
	// batchClients is the number of clients that book batches at the same time.
	batchClients = 4
	// far is how far ahead timers are due that must not ring.
	far = 24 * time.Hour
)

// adds books one by one from many clients, each as soon as its last call is answered. The
// measure is the number within the time; for latencies see addsOpen.
func (r *Runner) adds(ctx context.Context, plan Plan) (Booking, error) {
	return r.flood(ctx, plan, clients, func(ctx context.Context, n int) (int, error) {
		err := r.subject.Add(ctx, farTimer(plan, n))
		return one(err), err
	})
}

// addsBatch books batches of the plan's number of timers.
func (r *Runner) addsBatch(ctx context.Context, plan Plan) (Booking, error) {
	return r.flood(ctx, plan, batchClients, func(ctx context.Context, n int) (int, error) {
		timers := make([]subject.Timer, plan.Timers)
		for i := range timers {
			timers[i] = farTimer(plan, n*plan.Timers+i)
		}
		return r.subject.AddBatch(ctx, timers)
	})
}

func farTimer(plan Plan, n int) subject.Timer {
	return subject.Timer{ID: id(plan, n), Due: time.Now().Add(far)}
}

// flood makes numbered calls from several clients until the time is over, and
// waits for the last answers.
func (r *Runner) flood(ctx context.Context, plan Plan, clients int, call func(ctx context.Context, n int) (int, error)) (Booking, error) {
	var made atomic.Int64
	var log ledger
	begin := time.Now()
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for time.Since(begin) < plan.For && ctx.Err() == nil {
				booked, err := call(ctx, int(made.Add(1)))
				log.record(booked, err)
			}
		})
	}
	group.Wait()
	return only(log.close(begin)), ctx.Err()
}

// only is a booking of timers due far in the future.
func only(calls Calls) Booking { return Booking{Calls: calls, Ahead: calls.Timers} }

// addsOpen books one by one at a fixed rate, without waiting for answers.
func (r *Runner) addsOpen(ctx context.Context, plan Plan) (Booking, error) {
	var log ledger
	begin := time.Now()
	open(ctx, plan, func(ctx context.Context, i int, intended time.Time) {
		log.recordAt(intended, r.subject.Add(ctx, farTimer(plan, i)))
	})
	return only(log.close(begin)), ctx.Err()
}

// open makes calls at the plan's rate for the plan's time. It returns when all have been
// answered.
func open(ctx context.Context, plan Plan, call func(ctx context.Context, i int, intended time.Time)) {
	var group sync.WaitGroup
	for i, intended := range beats(ctx, plan.Rate) {
		if i >= int(plan.For.Seconds()*float64(plan.Rate)) {
			break
		}
		group.Go(func() { call(ctx, i, intended) })
	}
	group.Wait()
}

// beats yields the intended moments at a rate per second until ctx ends. The work of a beat
// must not wait for an earlier one.
func beats(ctx context.Context, rate int) iter.Seq2[int, time.Time] {
	begin := time.Now()
	return func(yield func(int, time.Time) bool) {
		for i := 0; ; i++ {
			intended := begin.Add(time.Second * time.Duration(i) / time.Duration(rate))
			if ctx.Err() != nil || !until(ctx, intended) || !yield(i, intended) {
				return
			}
		}
	}
}

// until waits for a moment; false when ctx ends before.
func until(ctx context.Context, moment time.Time) bool {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
