package failover

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// search looks for what dead workers had, pass after pass, until several in a row find nothing.
type search struct {
	finder
	// due carries a value when there may be something to find.
	due chan struct{}
}

// finder frees what one pass finds.
type finder interface {
	pass(ctx context.Context) (freed int, err error)
	// reset says that another worker has died: what was learned of the living is void.
	reset()
}

func newSearch(by finder) *search { return &search{finder: by, due: make(chan struct{}, 1)} }

// begin has it looked, at once or after the pass that is under way.
func (s *search) begin() {
	select {
	case s.due <- struct{}{}:
	default: // it is going to be
	}
}

// run searches at the start, and whenever it is begun. The first search meets the workers of
// before a restart of Temporal, of which no sign is left.
func (s *search) run(ctx context.Context, observer Observer) {
	s.begin()
	for {
		select {
		case <-s.due:
			s.reset()
			s.repeat(ctx, observer)
		case <-ctx.Done():
			return
		}
	}
}

// repeat makes one pass after another.
func (s *search) repeat(ctx context.Context, observer Observer) {
	for quiet := 0; quiet < tuning.QuietSweeps; quiet++ {
		freed, err := s.pass(ctx)
		if freed > 0 {
			observer.Freed(freed)
			quiet = 0
		}
		if err != nil && ctx.Err() == nil {
			observer.Failed(err)
		}
		select {
		case <-s.due:
			s.reset()
			quiet = -1
		case <-time.After(tuning.SweepPause):
		case <-ctx.Done():
			return
		}
	}
}
