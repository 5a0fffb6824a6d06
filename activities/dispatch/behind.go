package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// hindrance is why nothing left at a moment.
type hindrance int

const (
	// idle: nothing is left to send now.
	idle hindrance = iota
	// dry: the next items are not read yet.
	dry
	// full: as many callbacks are under way as may be.
	full
)

// hinder notes why an item could not leave, where there is one or not.
func (s *stint) hinder(item bool, now time.Time) {
	s.hinderedAt, s.hindrance = now, idle
	switch {
	case item:
		s.hindrance = full
	case !s.state.End:
		s.hindrance = dry
	}
}

// missed notes that a moment has passed at which nothing left.
func (s *stint) missed(now time.Time) {
	why := dispatch.ShortOfWorker
	if now.Sub(s.hinderedAt) < tuning.HindranceLasts {
		switch s.hindrance {
		case idle:
			return
		case dry:
			why = dispatch.ShortOfItems
		case full:
			why = dispatch.ShortOfSlots
		}
	}
	if s.state.Behind.Since == 0 {
		s.state.Behind.Since = wire.At(now)
	}
	s.state.Behind.Last, s.state.Behind.Why = wire.At(now), why
}

// catchUp forgets that moments were missed where items have left for a while since.
func (s *stint) catchUp() {
	over := time.Duration(tuning.CaughtUpItems / s.each() * float64(time.Second))
	if s.state.Last.Time().Sub(s.state.Behind.Last.Time()) > max(over, tuning.CaughtUp) {
		s.state.Behind = dispatch.Behind{}
	}
}
