package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// beat tells Temporal that the shard is worked on, and how far it is.
func (s *stint) beat(ctx context.Context, now time.Time) {
	items := time.Duration(tuning.DispatchBeatItems / s.each() * float64(time.Second))
	s.beating, s.beatAt = true, now.Add(max(min(items, s.silence/3), tuning.DispatchBeat))
	state, token, number := s.snapshot(), s.token, s.run.number.Load()
	state.Try = number
	if s.paced {
		s.Observer.Dispatching(s.shard.Key, s.shard.Number, s.pace.PerSecond/float64(s.pace.Shards), time.Duration(s.state.LagMS)*time.Millisecond)
	}
	s.state.LagMS = 0
	s.beside(func() func() {
		ctx, cancel := context.WithTimeout(ctx, max(s.silence, tuning.DispatchSilence))
		defer cancel()
		err := s.Store.Beat(ctx, token, state)
		return func() {
			if s.run.number.Load() == number { // else it was another attempt's
				s.beaten(now, err)
			}
		}
	})
}

// beaten takes what came of a sign of life. Without one in time nothing more is sent:
// another worker may have the shard by then.
func (s *stint) beaten(began time.Time, err error) {
	s.beating = false
	code := wire.CodeOf(err)
	if err == nil || code == wire.Overtaken {
		s.lease, s.heard = began.Add(s.silence*4/5), true
	}
	if code == wire.NotFound {
		s.lost, s.lostTill = true, time.Now().Add(tuning.DispatchRenewal)
	}
	if code == wire.Overtaken {
		s.why, s.over = dispatch.StintCancelled, time.Time{}
	}
}

// tell tells the dispatch how far it is, by one of its shards: at first every few seconds,
// and ever more seldom. Each time costs Temporal some writes, and its history is finite.
func (s *stint) tell(ctx context.Context, now time.Time) {
	place, active := s.plan().PlaceOf(s.shard.Number)
	started := s.settings.memo.StartedAt
	pause := max(now.Sub(started.Time())/tuning.ProgressPart, tuning.Progress)
	if !active || place > 0 || s.why != "" || now.Sub(max(s.state.Told, started).Time()) < pause {
		return
	}
	s.state.Told = wire.At(now)
	s.beside(func() func() {
		_ = s.Store.Tell(ctx, s.shard.Key) // the next time tells more
		return func() {}
	})
}

// readAgain reads what the shard goes by. What cannot be read holds on as it was.
func (s *stint) readAgain(ctx context.Context, now time.Time) {
	s.reread, s.readAt = true, now.Add(tuning.DispatchRead)
	s.beside(func() func() {
		next, err := s.read(ctx, s.shard.Key)
		return func() {
			s.reread = false
			switch {
			case err == nil:
				s.settings = next
				s.claim(ctx)
				s.tell(ctx, now)
			case wire.CodeOf(err) == wire.NotFound:
				s.why, s.over = dispatch.StintCancelled, time.Time{}
			}
		}
	})
}
