package scenario

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/bench/subject"
)

const (
	// perTenth is how many calls book a tenth, unless batches would be too large.
	perTenth = 4
	// maxBatch is the most timers per call.
	maxBatch = 1000
	// streamLead is how long before their due time the timers of the stream are booked:
	// longer than a batch takes.
	streamLead = 15 * time.Second
)

// pending books the plan's number of timers due far in the future, in batches, as fast as
// possible. Meanwhile a stream of other timers rings at the plan's rate.
func (r *Runner) pending(ctx context.Context, plan Plan) (Booking, error) {
	flowing, stop := context.WithCancel(ctx)
	defer stop()
	s := &stream{runner: r, plan: plan}
	var flow sync.WaitGroup
	flow.Go(func() { s.flow(ctx, flowing) })
	calls, err := r.fill(ctx, plan)
	stop()
	flow.Wait()
	calls.Failed += s.log.calls.Failed
	calls.Failure = cmp.Or(calls.Failure, s.log.calls.Failure)
	s.booking.Calls, s.booking.Ahead = calls, calls.Timers
	return s.booking, err
}

// fill books all timers due far in the future. It records failed batches.
func (r *Runner) fill(ctx context.Context, plan Plan) (Calls, error) {
	batch := min(max(plan.Timers/(tenths*perTenth), 1), maxBatch)
	way, err := r.newWay(plan.Timers)
	if err != nil {
		return Calls{}, err
	}
	begin := time.Now()
	var log ledger
	var group errgroup.Group
	group.SetLimit(batchClients)
	for first := 0; first < plan.Timers && ctx.Err() == nil; first += batch {
		timers := make([]subject.Timer, min(batch, plan.Timers-first))
		for i := range timers {
			timers[i] = farTimer(plan, first+i)
		}
		group.Go(func() error {
			booked, err := r.subject.AddBatch(ctx, timers)
			log.record(booked, err)
			way.add(ctx, len(timers), booked)
			return nil
		})
	}
	_ = group.Wait() // errors are recorded
	calls := log.close(begin)
	calls.Tenths = way.done
	return calls, errors.Join(way.err, ctx.Err())
}

// stream books timers at a fixed rate, each to ring streamLead after its turn.
type stream struct {
	runner *Runner
	plan   Plan
	log    ledger

	mu      sync.Mutex
	booking Booking
}

// flow goes on until flowing ends. The calls under way are still answered.
func (s *stream) flow(ctx, flowing context.Context) {
	var group sync.WaitGroup
	for i, intended := range beats(flowing, s.plan.Rate) {
		group.Go(func() { s.book(ctx, i, intended) })
	}
	group.Wait()
}

var errTooLate = errors.New("a timer of the stream was acknowledged after it was due")

// book counts a timer acknowledged after its due time as a failure, and not as late: its
// lateness would be that of the booking.
func (s *stream) book(ctx context.Context, i int, intended time.Time) {
	timer := subject.Timer{ID: id(s.plan, i) + "-stream", Due: intended.Add(streamLead).Truncate(time.Millisecond)}
	err := s.runner.subject.Add(ctx, timer)
	if err == nil && time.Now().After(timer.Due) {
		err = errTooLate
	}
	s.log.record(one(err), err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.booking.Free = append(s.booking.Free, timer)
		return
	}
	s.booking.Expected = append(s.booking.Expected, timer)
}
