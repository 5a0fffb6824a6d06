package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// lease is the right to send the items of a shard. A heartbeat renews it, and stores how
// far the shard is.
type lease struct {
	*base
	session *session
	// token is that of the attempt that the run is now, and heard reports whether Temporal
	// has taken a heartbeat of it.
	token []byte
	heard bool
	// timeout is after how long without a heartbeat Temporal takes the worker for dead, and
	// until is until when no other worker can have the shard.
	timeout time.Duration
	until   time.Time
	// lost reports whether Temporal takes the worker for dead, and lostTill is until when
	// another attempt may come here.
	lost     bool
	lostTill time.Time
	// beating reports whether a heartbeat is under way. The next one is due at nextBeat.
	beating  bool
	nextBeat time.Time
}

// held reports whether no other worker can have the shard.
func (l *lease) held(now time.Time) bool { return !now.After(l.until) }

// extend has the lease last from a heartbeat that was heard.
func (l *lease) extend(from time.Time) { l.until = from.Add(l.timeout * 4 / 5) }

// due reports whether a heartbeat is to be sent.
func (l *lease) due(now time.Time) bool { return !l.beating && !now.Before(l.nextBeat) }

// heartbeat tells Temporal that the shard is worked on, and how far it is.
func (l *lease) heartbeat(ctx context.Context, now time.Time, state dispatch.State) {
	l.beating, l.nextBeat = true, now.Add(max(min(l.timeFor(tuning.DispatchBeatItems), l.timeout/3), tuning.DispatchBeat))
	token, number := l.token, l.session.number.Load()
	state.Try = number
	l.beside(func() func() {
		ctx, cancel := context.WithTimeout(ctx, max(l.timeout, tuning.DispatchSilence))
		defer cancel()
		err := l.Store.Beat(ctx, token, state)
		return func() {
			if l.session.number.Load() == number { // else it was another attempt's
				l.applyHeartbeat(now, err)
			}
		}
	})
}

// applyHeartbeat takes the result of a heartbeat. Without one in time nothing more is sent:
// another worker may have the shard by then.
func (l *lease) applyHeartbeat(began time.Time, err error) {
	l.beating = false
	code := wire.CodeOf(err)
	if err == nil || code == wire.Overtaken {
		l.extend(began)
		l.heard = true
	}
	if code == wire.NotFound {
		l.lost, l.lostTill = true, time.Now().Add(tuning.DispatchRenewal)
	}
	if code == wire.Overtaken {
		l.endWith(dispatch.StintCancelled)
	}
}

// renew makes the lease that of another attempt.
func (l *lease) renew(next renewal) {
	l.session.number.Store(next.number)
	l.token = next.token
	l.extend(time.Now())
	l.lost, l.heard = false, false
	l.beating, l.nextBeat = false, time.Time{}
}

// tooLong reports whether the shard is much faster than when the run began: a worker that
// is killed would be missed for as long as it could be silent then.
func (l *lease) tooLong() bool {
	return l.timeout > tuning.DispatchSilence && l.perSecond()*l.timeout.Seconds() > tuning.SilentItems
}
