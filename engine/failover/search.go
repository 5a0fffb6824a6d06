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
	// died carries a value when a worker has died, and troubled when Temporal has failed.
	died, troubled chan struct{}
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
	return &search{finder: by, died: make(chan struct{}, 1), troubled: make(chan struct{}, 1)}
}

// afterDeath starts a search for what a dead worker had, at once or after the pass under way.
func (s *search) afterDeath() { signal(s.died) }

// afterTrouble starts a search for tasks that were lost on their way. Temporal fails when it has
// too much to do, so such a search pauses longer between its passes.
func (s *search) afterTrouble() { signal(s.troubled) }

func signal(due chan struct{}) {
	select {
	case due <- struct{}{}:
	default: // one is waiting already
	}
}

// run searches at the start, and after each death and each trouble. The first search finds the
// workers from before a restart of Temporal, whose signs are lost.
func (s *search) run(ctx context.Context, observer Observer) {
	s.afterDeath()
	for {
		select {
		case <-s.died:
			s.reset()
			s.repeat(ctx, observer, true)
		case <-s.troubled:
			s.reset() // a task of a living worker may have been lost since
			s.repeat(ctx, observer, false)
		case <-ctx.Done():
			return
		}
	}
}

// overtaken reports whether another worker has died since the pass that is under way began.
func (s *search) overtaken() bool { return len(s.died) > 0 }

// repeat makes one pass after another, until [tuning.QuietSweeps] in a row find nothing. After a
// death the passes are hasty. It reports one of several failures in a row.
func (s *search) repeat(ctx context.Context, observer Observer, hasty bool) {
	failing := false
	for quiet := 0; quiet < tuning.QuietSweeps; {
		began := time.Now()
		freed, err := s.pass(ctx, s.overtaken)
		quiet++
		if freed > 0 {
			observer.Freed(freed)
		}
		if freed > 0 || errors.Is(err, errUnlisted) {
			quiet = 0
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
			hasty, quiet = true, 0
		case <-time.After(pause):
			if len(s.troubled) > 0 {
				<-s.troubled
				quiet = 0
			}
		case <-ctx.Done():
			return
		}
	}
}
