package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Run sends the items of a shard from where it is, until the stint is over. Its error
// means that another stint shall begin where the last sign of life was.
func (e *Executor) Run(ctx context.Context, shard dispatch.Shard) (dispatch.Stint, error) {
	return e.try(ctx, shard, activity.GetInfo(ctx))
}

// try is [Executor.Run] for the attempt that info tells of.
func (e *Executor) try(ctx context.Context, shard dispatch.Shard, info activity.Info) (dispatch.Stint, error) {
	var told dispatch.State
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &told); err != nil {
			return dispatch.Stint{}, err
		}
		shard.State = told
	}
	if r := e.renewed(ctx, info, told.Try); r != nil {
		return r.end, r.err
	}
	place, end, err := e.takeTurn(ctx, &shard, info)
	if place == nil {
		return end, err
	}
	defer place.Leave()
	r := e.begin(info)
	s := e.newStint(shard, info, r)
	s.giveUp = place.GiveUp()
	end, err = s.carryOut(ctx)
	e.end(r, end, err)
	return end, err
}

func (e *Executor) newStint(shard dispatch.Shard, info activity.Info, r *run) *stint {
	s := &stint{
		Executor: e, shard: shard, state: shard.State, token: info.TaskToken, silence: cmp.Or(info.HeartbeatTimeout, tuning.DispatchSilence),
		events: make(chan func(), tuning.DispatchEvents), jobs: make(chan job), rungs: map[int]*rung{}, reading: map[string]bool{},
		fresh: true, run: r,
	}
	s.lease = time.Now().Add(s.silence * 4 / 5)
	return s
}

func (s *stint) carryOut(ctx context.Context) (dispatch.Stint, error) {
	now := time.Now()
	var err error
	if s.settings, err = s.read(ctx, s.shard.Key); err != nil {
		return s.gone(err)
	}
	s.restore()
	s.until = now.Add(s.length())
	defer s.Observer.Dispatching(s.shard.Key, s.shard.Number, 0, 0)
	return s.loop(ctx)
}

// gone is how a stint of a dispatch ends that cannot be read.
func (s *stint) gone(err error) (dispatch.Stint, error) {
	if wire.CodeOf(err) == wire.NotFound {
		return dispatch.Stint{State: s.state, End: dispatch.StintCancelled, Plan: s.shard.Plan}, nil
	}
	return dispatch.Stint{}, err
}

// stint is one try of the executor of a shard. All but what is done beside the loop
// belongs to the loop.
type stint struct {
	*Executor
	shard    dispatch.Shard
	state    dispatch.State
	settings *settings
	silence  time.Duration
	run      *run
	// token is that of the attempt that it is now, and heard whether Temporal has taken a
	// sign of life of it.
	token []byte
	heard bool
	// lease is until when nobody else can have the shard, and until when the stint lasts.
	lease, until time.Time
	// why is why it ends, once it does, and over whether it may go on after all.
	why  dispatch.StintEnd
	over time.Time
	// giveUp is closed when another shard shall have the place of this one; nil once it was
	// heard.
	giveUp <-chan struct{}
	// lost is whether Temporal takes the worker for dead, and lostTill until when another
	// attempt may come here.
	lost     bool
	lostTill time.Time

	main, ladder []*page
	// oldMain and oldLadder are the pages that were open when the stint began, until they
	// are read again.
	oldMain, oldLadder []dispatch.Open
	// turn is whether an item of the ladder is next, where there is one.
	turn  bool
	rungs map[int]*rung
	// reading has the ids of the pages of the ladder that are read, and climbAt is when to
	// try the old ones again.
	reading map[string]bool
	climbAt time.Time
	// loading is whether the next page is read, and loadAt when to begin.
	loading bool
	loadAt  time.Time

	pace dispatch.Pace
	next int64
	// fresh is before its first item, and overdue until when moments have passed that
	// another executor left.
	paced, fresh bool
	overdue      time.Time
	heldTill     time.Time
	// hindrance is what kept the last item from leaving that could not, at hinderedAt.
	hindrance  hindrance
	hinderedAt time.Time
	// wanted is when it was last told that items could not be sent for want of our own.
	wanted time.Time
	// calls counts callbacks under way, and pending all that is done beside the loop.
	calls, pending int
	beating        bool
	beatAt, readAt time.Time
	reread         bool
	// holding and claiming are whether the policy is being told something.
	holding, claiming bool

	events chan func()
	jobs   chan job
}

// plan is what the shard goes by.
func (s *stint) plan() dispatch.Plan { return s.settings.memo.Plan }

// each is how many items a second this shard sends.
func (s *stint) each() float64 {
	return max(s.plan().PerSecond/float64(max(len(s.plan().Active), 1)), dispatch.MinRate/dispatch.MaxShards)
}

// length is how long the stint lasts. Shards take turns in giving others a chance; where
// there is one only, it costs a gap and gains nothing.
func (s *stint) length() time.Duration {
	length := tuning.DispatchStint
	if shards := len(s.plan().Active); shards > 1 {
		length += length * time.Duration(s.shard.Number%shards) / time.Duration(shards)
	} else {
		length = tuning.LongestStint
	}
	items := time.Duration(tuning.StintItems / s.each() * float64(time.Second))
	return min(max(length, items), tuning.LongestStint)
}

// beside does work beside the loop, which takes what it returns.
func (s *stint) beside(work func() (then func())) {
	s.pending++
	go func() {
		then := work()
		s.events <- func() { s.pending--; then() }
	}()
}

func (s *stint) loop(ctx context.Context) (dispatch.Stint, error) {
	outside, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer close(s.jobs)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	stop := activity.GetWorkerStopChannel(ctx)
	for {
		now := time.Now()
		if s.ends(now, stop == nil) {
			return s.leave(ctx, cancel)
		}
		alarm.Reset(max(time.Until(s.work(outside, now)), tuning.DispatchTick))
		select {
		case next := <-s.run.renew:
			s.renewedBy(next)
		case <-alarm.C:
		case then := <-s.events:
			then()
			s.drain()
		case <-s.giveUp:
			s.giveUp = nil
			if s.why == "" {
				s.why, s.over = dispatch.StintOver, now.Add(tuning.TurnHandover)
			}
		case <-stop:
			s.why, s.over, stop = dispatch.StintOver, time.Time{}, nil
		case <-ctx.Done():
			return s.abort(ctx, cancel)
		}
	}
}

// drain takes what else has ended.
func (s *stint) drain() {
	for range tuning.DispatchEvents {
		select {
		case then := <-s.events:
			then()
		default:
			return
		}
	}
}

// settle waits for all that is done beside the loop.
func (s *stint) settle() {
	for s.pending > 0 {
		(<-s.events)()
	}
}

func (s *stint) leave(ctx context.Context, cancel context.CancelFunc) (dispatch.Stint, error) {
	cancel()
	s.settle()
	if place, _ := s.plan().PlaceOf(s.shard.Number); s.why == dispatch.StintPaused && s.state.Claimed && place == 0 {
		s.yield(context.WithoutCancel(ctx), s.shard.BusinessType, s.settings.memo.Run)
	}
	if s.lost {
		return dispatch.Stint{}, &wire.Error{Code: wire.NotFound, Message: "Another executor has taken over."}
	}
	return dispatch.Stint{State: s.snapshot(), End: s.why, WakeAt: s.wakeAt(), Plan: s.plan()}, nil
}

// abort ends a stint whose worker ends.
func (s *stint) abort(ctx context.Context, cancel context.CancelFunc) (dispatch.Stint, error) {
	cancel()
	s.settle()
	return dispatch.Stint{}, ctx.Err()
}

// work does all that is due, and returns when there is more to do.
func (s *stint) work(ctx context.Context, now time.Time) (wake time.Time) {
	if s.lost {
		return s.lostTill
	}
	if !s.beating && !now.Before(s.beatAt) {
		s.beat(ctx, now)
	}
	if !s.reread && !now.Before(s.readAt) {
		s.readAgain(ctx, now)
	}
	wake = earlier(s.beatAt, s.readAt)
	wake = earlier(wake, s.flush(ctx, now))
	if s.why != "" {
		return wake
	}
	s.load(ctx, now)
	wake = earlier(wake, s.reclimb(ctx, now))
	wake = earlier(wake, s.climb(ctx, now))
	return earlier(wake, s.send(ctx, now))
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || (!a.IsZero() && a.Before(b)) {
		return a
	}
	return b
}

// ends reports whether the stint ends here. One that Temporal takes for dead waits for its
// next attempt for a while, unless its worker stops.
func (s *stint) ends(now time.Time, stops bool) bool {
	if s.lost {
		return stops || !now.Before(s.lostTill)
	}
	return s.finished(now)
}

// finished reports whether the stint is over, and says why it ends.
func (s *stint) finished(now time.Time) bool {
	if s.why == "" {
		s.why = s.reason(now)
		if s.why == dispatch.StintOver {
			s.over = now.Add(tuning.DispatchHandover)
		}
	}
	if s.why == dispatch.StintOver && !s.over.IsZero() && now.After(s.over) && s.calls > 0 {
		s.why, s.until = "", now.Add(tuning.DispatchHandoverAgain) // a slow callback must not hold the shard up
	}
	return s.why != "" && s.calls == 0 && len(s.rungs) == 0
}

// reason is why the stint ends now, if it does.
func (s *stint) reason(now time.Time) dispatch.StintEnd {
	switch wake := s.wakeAt(); {
	case s.plan().Paused:
		return dispatch.StintPaused
	case !s.exhausted():
	case wake == 0:
		return dispatch.StintDone
	case wake.Until(now) > tuning.LadderPatience:
		return dispatch.StintWaits
	}
	if now.After(s.until) || s.silent() {
		return dispatch.StintOver
	}
	return ""
}

// silent reports whether the shard is much faster than when the stint began: a worker that
// is killed would be missed for as long as it could be silent then.
func (s *stint) silent() bool {
	return s.silence > tuning.DispatchSilence && s.each()*s.silence.Seconds() > tuning.SilentItems
}

// exhausted is whether nothing is left but what waits on the ladder.
func (s *stint) exhausted() bool {
	return s.state.End && !s.loading && !s.restoring() && len(s.main)+len(s.ladder)+len(s.rungs)+len(s.reading) == 0
}

// wakeAt is when the next page of the ladder is due, as far as it is known; zero for none.
func (s *stint) wakeAt() (at wire.Instant) {
	for _, queue := range s.state.Ladder {
		if queue.Head < queue.Tail && (at == 0 || queue.Due < at) {
			at = max(queue.Due, 1)
		}
	}
	return at
}

// snapshot is how far the shard is.
func (s *stint) snapshot() dispatch.State {
	s.catchUp()
	state := s.state
	state.Open = nil
	for _, pages := range [][]*page{s.main, s.ladder} {
		for _, p := range pages {
			state.Open = append(state.Open, p.state())
		}
	}
	state.Open = slices.Concat(state.Open, s.oldMain, s.oldLadder)
	state.Ladder = append([]dispatch.Queue(nil), s.state.Ladder...)
	state.Sent.Seconds = append([]int(nil), s.state.Sent.Seconds...)
	return state
}
