package failover

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// search looks for what was lost, pass after pass, until several in a row find nothing.
type search struct {
	finder
	// died carries a value when a worker has died, and doubted when Temporal has failed.
	died, doubted chan struct{}
}

// finder frees what one pass finds.
type finder interface {
	// pass makes one pass. What has time is left to the next one once overtaken reports true.
	pass(ctx context.Context, overtaken func() bool) (freed int, err error)
	// reset says that another worker may have died: what was learned of the living is void.
	reset()
}

// errUnlisted is the error of a pass that could not list what it looks at. It says nothing of what
// there is to free.
var errUnlisted = errors.New("what dead workers may have could not be listed")

func newSearch(by finder) *search {
	return &search{finder: by, died: make(chan struct{}, 1), doubted: make(chan struct{}, 1)}
}

// afterDeath has it looked for what a dead worker had, at once or after the pass that is under way.
func (s *search) afterDeath() { signal(s.died) }

// inDoubt has it looked for tasks that were lost on their way. Temporal fails where it has too much
// to do, so such a search takes a part of its time only.
func (s *search) inDoubt() { signal(s.doubted) }

func signal(due chan struct{}) {
	select {
	case due <- struct{}{}:
	default: // it is going to be
	}
}

// run searches at the start, and whenever there is a reason. The first search meets the workers of
// before a restart of Temporal, of which no sign is left.
func (s *search) run(ctx context.Context, observer Observer) {
	s.afterDeath()
	for {
		select {
		case <-s.died:
			s.reset()
			s.repeat(ctx, observer, true)
		case <-s.doubted:
			s.reset() // what one of them had may have been lost since
			s.repeat(ctx, observer, false)
		case <-ctx.Done():
			return
		}
	}
}

// overtaken reports whether another worker has died since the pass that is under way began.
func (s *search) overtaken() bool { return len(s.died) > 0 }

// repeat makes one pass after another. They are hasty after a death. Of passes in a row that fail the
// observer is told once.
func (s *search) repeat(ctx context.Context, observer Observer, hasty bool) {
	failing := false
	for quiet := 0; quiet < tuning.QuietSweeps; quiet++ {
		began := time.Now()
		freed, err := s.pass(ctx, s.overtaken)
		if freed > 0 {
			observer.Freed(freed)
		}
		if freed > 0 || errors.Is(err, errUnlisted) {
			quiet = -1
		}
		if err != nil && !failing && ctx.Err() == nil {
			observer.Failed(err)
		}
		failing = err != nil
		pause := tuning.SweepPause
		if !hasty {
			pause = max(pause, tuning.SweepRest*time.Since(began))
		}
		select {
		case <-s.died:
			s.reset()
			hasty, quiet = true, -1
		case <-time.After(pause):
			if len(s.doubted) > 0 {
				<-s.doubted
				quiet = -1
			}
		case <-ctx.Done():
			return
		}
	}
}
