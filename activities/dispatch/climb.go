package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// climb reads the pages of the ladder that are due, and returns when the next one is.
func (s *stint) climb(ctx context.Context, now time.Time) (wake time.Time) {
	if len(s.ladder)+len(s.oldLadder) >= tuning.OpenPages {
		return time.Time{}
	}
	for made := range s.state.Ladder {
		queue := s.state.Ladder[made]
		if queue.Head == queue.Tail || s.reading[s.rungPage(made, queue.Head)] {
			continue
		}
		if at := queue.Due.Time(); at.After(now) {
			wake = earlier(wake, at)
			continue
		}
		s.readRung(ctx, s.rungPage(made, queue.Head), func(stored dispatch.Page, err error) { s.climbed(made, stored, err) })
	}
	return wake
}

// rungPage is the id of a page of the ladder.
func (s *stint) rungPage(made, number int) string {
	return dispatch.Ladder(s.shard.Stored, made).Page(number)
}

// readRung reads a page of the ladder.
func (s *stint) readRung(ctx context.Context, id string, then func(stored dispatch.Page, err error)) {
	s.reading[id] = true
	s.beside(func() func() {
		ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
		defer cancel()
		stored, err := s.Store.ReadPage(ctx, id)
		return func() {
			delete(s.reading, id)
			then(stored, err)
		}
	})
}

// climbed opens a page of the ladder, unless it is due later than was known.
func (s *stint) climbed(made int, stored dispatch.Page, err error) {
	queue := &s.state.Ladder[made]
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		s.missing(s.rungPage(made, queue.Head))
		queue.Head, queue.Due = queue.Head+1, 0
	case err != nil:
		queue.Due = wire.At(time.Now().Add(tuning.StorePause))
	case stored.Due.Until(time.Now()) > 0:
		queue.Due = stored.Due
	case s.why == "":
		s.ladder = append(s.ladder, open(dispatch.Open{Attempts: made, Page: queue.Head}, stored.Items))
		queue.Head, queue.Due = queue.Head+1, 0
	}
}

// missing says that a page of the ladder is not there, whose items cannot be sent any more.
func (s *stint) missing(id string) {
	s.problem("A page of items that were to be tried again is gone: " + id)
}
