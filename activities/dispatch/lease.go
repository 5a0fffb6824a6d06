package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// lease is the right to send the items of a shard. A heartbeat renews it, and stores the
// shard's progress.
type lease struct {
	*base
	session *session
	// token is the present attempt's. heard reports whether Temporal has accepted one of its
	// heartbeats.
	token []byte
	heard bool
	// timeout is the time without a heartbeat after which Temporal considers the worker
	// dead. No other worker can have the shard before until.
	timeout time.Duration
	until   time.Time
	// lost reports whether Temporal considers the worker dead, and lostUntil is until when
	// another attempt may come here.
	lost      bool
	lostUntil time.Time
	// beating reports whether a heartbeat is under way. The next one is due at nextBeat.
	beating  bool
	nextBeat time.Time
}

// held reports whether no other worker can have the shard.
func (l *lease) held(now time.Time) bool { return !now.After(l.until) }

// extend extends the lease from an accepted heartbeat.
func (l *lease) extend(from time.Time) { l.until = from.Add(l.timeout * 4 / 5) }

// due reports whether a heartbeat is due.
func (l *lease) due(now time.Time) bool { return !l.beating && !now.Before(l.nextBeat) }

// heartbeat sends Temporal a heartbeat with the shard's progress.
func (l *lease) heartbeat(ctx context.Context, now time.Time, state dispatch.State) {
	l.beating, l.nextBeat = true, now.Add(max(min(l.timeFor(tuning.DispatchBeatItems), l.timeout/3), tuning.DispatchBeat))
	token, number := l.token, l.session.number.Load()
	state.Try = number
	timeout := max(l.timeout, tuning.DispatchSilence)
	l.startWork(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return l.Store.Heartbeat(ctx, token, state)
	}, func(err error) {
		if l.session.number.Load() == number { // else it was another attempt's
			l.applyHeartbeat(now, err)
		}
	})
}

// applyHeartbeat handles the result of a heartbeat. Without a timely one nothing more is
// sent: another worker may have the shard.
func (l *lease) applyHeartbeat(began time.Time, err error) {
	l.beating = false
	code := wire.CodeOf(err)
	if err == nil || code == wire.Overtaken {
		l.extend(began)
		l.heard = true
	}
	if code == wire.NotFound {
		l.lost, l.lostUntil = true, time.Now().Add(tuning.DispatchRenewal)
	}
	if code == wire.Overtaken {
		l.endWith(dispatch.RunCancelled)
	}
}

// renew moves the lease to another attempt.
func (l *lease) renew(next renewal) {
	l.session.number.Store(next.number)
	l.token = next.token
	l.extend(time.Now())
	l.lost, l.heard = false, false
	l.beating, l.nextBeat = false, time.Time{}
}

// tooLong reports whether the lease is too long for the shard, which is now much faster than
// at the run's begin. Another worker would continue late after a crash.
func (l *lease) tooLong() bool {
	return l.timeout > tuning.DispatchSilence && l.perSecond()*l.timeout.Seconds() > tuning.SilentItems
}
