package bookings

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/timers"
)

// Pauser pauses and resumes timers.
type Pauser struct {
	reader  *timers.Reader
	effects *effects
	changer *Changer
}

// Pause pauses or resumes a timer. A timer already in that state is no error. It gets the
// change again if a change that is not applied yet may be the opposite. The errors are those
// of [Changer.Amend].
func (p *Pauser) Pause(ctx context.Context, target Target, pause timer.Pause) (timer.View, Effect, error) {
	view, err := p.reader.Get(ctx, target.Key)
	switch {
	case err != nil:
		return timer.View{}, "", err
	case !view.Memo.MatchesTag(target.IfMatch):
		return timer.View{}, "", timer.Unmet(&view)
	}
	if view.Memo.Paused() == pause.Stop && !view.Status.Finished() && !view.CancelRequested {
		if settled, err := p.effects.isUpToDate(ctx, view); err != nil || settled {
			return changed(view, view, Done), Done, err
		}
	}
	return p.changer.Change(ctx, target, timer.Change{Pause: &pause, At: wire.At(time.Now())})
}
