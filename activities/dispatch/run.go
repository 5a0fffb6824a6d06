package dispatch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Run sends the items of a shard from its stored progress, until the run is over. An error
// means that another run must continue from the last heartbeat.
func (e *Executor) Run(ctx context.Context, shard dispatch.Shard) (dispatch.ShardRunResult, error) {
	return e.runAttempt(ctx, shard, activity.GetInfo(ctx))
}

// runAttempt is [Executor.Run] for the attempt that info describes.
func (e *Executor) runAttempt(ctx context.Context, shard dispatch.Shard, info activity.Info) (end dispatch.ShardRunResult, err error) {
	var last dispatch.State
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &last); err != nil {
			return dispatch.ShardRunResult{}, err
		}
		shard.State = last
	}
	if s := e.resume(ctx, info, last.Try); s != nil {
		return s.result, s.err
	}
	place, end, err := e.takeTurn(ctx, &shard, info)
	if place == nil {
		return end, err
	}
	defer place.Release()
	s := e.beginSession(info)
	err = errUnfinished // unless the run returns
	defer func() { e.endSession(s, end, err) }()
	r := e.newRun(shard, info, s)
	r.giveUp = place.GiveUp()
	return r.carryOut(ctx)
}

// errUnfinished is the end of a run that panics.
var errUnfinished = errors.New("the run did not end")

// shardRun is one run of a shard's executor. All but the work outside of the loop belongs to the
// loop.
type shardRun struct {
	*base
	lease   *lease
	pacer   *pacer
	source  *source
	retries *retries
	sender  *sender
	refresh *refresher
	// until is how long the run lasts.
	until time.Time
	// giveUp is closed when another shard must have this one's place; nil after it was seen.
	giveUp <-chan struct{}
}

func (e *Executor) newRun(shard dispatch.Shard, info activity.Info, s *session) *shardRun {
	b := &base{Executor: e, shard: shard, state: shard.State, events: make(chan func(), tuning.DispatchEvents)}
	l := &lease{base: b, session: s, token: info.TaskToken, timeout: cmp.Or(info.HeartbeatTimeout, tuning.DispatchSilence)}
	l.extend(time.Now())
	r := &shardRun{
		base: b, lease: l, pacer: &pacer{base: b, lease: l, fresh: true}, source: &source{base: b}, refresh: &refresher{base: b},
		retries: &retries{base: b, lease: l, reading: map[string]bool{}, queues: map[int]*retryQueue{}},
	}
	r.sender = &sender{base: b, pacer: r.pacer, source: r.source, retries: r.retries, refresh: r.refresh, jobs: make(chan job)}
	return r
}

func (r *shardRun) carryOut(ctx context.Context) (dispatch.ShardRunResult, error) {
	now := time.Now()
	r.began = now
	var err error
	if r.settings, err = r.readSettings(ctx, r.shard.Key, now); err != nil {
		return r.unreadable(err)
	}
	r.restore()
	r.until = now.Add(r.length())
	defer r.Observer.Dispatching(r.shard.Key, r.shard.Number, 0, 0)
	return r.loop(ctx)
}

// unreadable ends a run whose dispatch cannot be read.
func (r *shardRun) unreadable(err error) (dispatch.ShardRunResult, error) {
	if wire.CodeOf(err) == wire.NotFound {
		return dispatch.ShardRunResult{State: r.state, End: dispatch.RunCancelled, Plan: r.shard.Plan}, nil
	}
	return dispatch.ShardRunResult{}, err
}

// restore takes over the last run's state.
func (r *shardRun) restore() {
	var main, ladder []dispatch.Open
	for _, was := range r.state.Open {
		if was.Attempts > 0 {
			ladder = append(ladder, was)
		} else {
			main = append(main, was)
		}
	}
	r.source.restore(main)
	r.retries.old = ladder
	r.state.Open = nil
	// Items in flight at a dead worker are sent again, and counted then.
	r.state.InFlight = 0
}

// length is how long the run lasts. Shards take turns, so that others get a chance. A single
// shard would only get a gap from that.
func (r *shardRun) length() time.Duration {
	length := tuning.ShardRun
	if shards := len(r.plan().Active); shards > 1 {
		length += length * time.Duration(r.shard.Number%shards) / time.Duration(shards)
	} else {
		length = tuning.LongestShardRun
	}
	return min(max(length, r.timeFor(tuning.ShardRunItems)), tuning.LongestShardRun)
}

func (r *shardRun) loop(ctx context.Context) (dispatch.ShardRunResult, error) {
	outside, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer r.abandon()
	defer cancel()
	defer close(r.sender.jobs)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	stop := activity.GetWorkerStopChannel(ctx)
	for {
		now := time.Now()
		if r.over(now, stop == nil) {
			return r.finish(ctx, cancel)
		}
		alarm.Reset(max(time.Until(r.work(outside, now)), tuning.DispatchTick))
		select {
		case next := <-r.lease.session.renew:
			r.lease.renew(next)
		case <-alarm.C:
		case then := <-r.events:
			then()
			r.drainEvents()
		case <-r.giveUp:
			r.giveUp = nil
			if !r.ending() {
				r.endReason, r.draining = dispatch.RunYielded, now.Add(tuning.TurnHandover)
			}
		case <-stop:
			r.endWith(dispatch.RunYielded)
			stop = nil
		case <-ctx.Done():
			return r.abort(ctx, cancel)
		}
	}
}

// work does all that is due, and returns when there is more to do.
func (r *shardRun) work(ctx context.Context, now time.Time) (wake time.Time) {
	if r.lease.lost {
		return r.lease.lostUntil
	}
	if r.lease.due(now) {
		r.lease.heartbeat(ctx, now, r.snapshot())
		r.pacer.observe()
	}
	if r.refresh.due(now) {
		r.refresh.read(ctx, now)
	}
	wake = earlier(r.lease.nextBeat, r.refresh.nextRead)
	wake = earlier(wake, r.retries.flush(ctx, now))
	if r.ending() {
		return wake
	}
	r.source.load(ctx, now)
	wake = earlier(wake, r.retries.readOld(ctx, now))
	wake = earlier(wake, r.retries.readDue(ctx, now))
	return earlier(wake, r.sender.send(ctx, now))
}

// finish ends a run that is over.
func (r *shardRun) finish(ctx context.Context, cancel context.CancelFunc) (dispatch.ShardRunResult, error) {
	cancel()
	r.awaitPending()
	if place, _ := r.plan().PlaceOf(r.shard.Number); r.endReason == dispatch.RunPaused && r.state.Claimed && place == 0 {
		r.releaseClaim(context.WithoutCancel(ctx), r.shard.BusinessType, r.settings.memo.Run)
	}
	if r.lease.lost {
		return dispatch.ShardRunResult{}, &wire.Error{Code: wire.NotFound, Message: "Another executor has taken over."}
	}
	return dispatch.ShardRunResult{State: r.snapshot(), End: r.endReason, WakeAt: r.retries.wakeAt(), Plan: r.plan()}, nil
}

// abort ends a run whose worker stops.
func (r *shardRun) abort(ctx context.Context, cancel context.CancelFunc) (dispatch.ShardRunResult, error) {
	cancel()
	r.awaitPending()
	return dispatch.ShardRunResult{}, ctx.Err()
}

// over reports whether the run is over. A run that Temporal considers dead waits a while for
// its next attempt, unless its worker stops.
func (r *shardRun) over(now time.Time, stops bool) bool {
	if r.lease.lost {
		return stops || !now.Before(r.lease.lostUntil)
	}
	if !r.ending() {
		r.endReason = r.reasonToEnd(now)
		if r.endReason == dispatch.RunYielded {
			r.draining = now.Add(tuning.DispatchHandover)
		}
	}
	if r.endReason == dispatch.RunYielded && !r.draining.IsZero() && now.After(r.draining) && r.calls > 0 {
		r.endReason, r.until = "", now.Add(tuning.DispatchHandoverAgain) // a slow callback must not hold the shard up
	}
	return r.ending() && r.calls == 0 && len(r.retries.queues) == 0
}

// reasonToEnd is why the run ends now, if it does.
func (r *shardRun) reasonToEnd(now time.Time) dispatch.ShardRunEnd {
	switch wake := r.retries.wakeAt(); {
	case r.plan().Paused:
		return dispatch.RunPaused
	case !r.exhausted():
	case wake == 0:
		return dispatch.RunDone
	case wake.Until(now) > tuning.LadderPatience:
		return dispatch.RunWaits
	}
	if now.After(r.until) || r.lease.tooLong() {
		return dispatch.RunYielded
	}
	return ""
}

// exhausted reports whether only items on the ladder are left.
func (r *shardRun) exhausted() bool {
	return r.source.done() && r.retries.empty() && len(r.main)+len(r.ladder) == 0
}

// snapshot is the shard's progress.
func (r *shardRun) snapshot() dispatch.State {
	r.pacer.catchUp()
	state := r.state
	state.Open = nil
	for _, pages := range [][]*page{r.main, r.ladder} {
		for _, p := range pages {
			state.Open = append(state.Open, p.state())
		}
	}
	state.Open = slices.Concat(state.Open, r.source.old, r.retries.old)
	state.Ladder = append([]dispatch.Queue(nil), r.state.Ladder...)
	state.Sent.Seconds = append([]int(nil), r.state.Sent.Seconds...)
	return state
}
