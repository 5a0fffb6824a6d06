package failover

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// slow is a finder whose passes take a while.
type slow struct {
	takes          time.Duration
	passes, resets atomic.Int64
	// fails is the error of its passes.
	fails atomic.Pointer[error]
}

func (s *slow) pass(context.Context, func() bool) (int, error) {
	s.passes.Add(1)
	<-time.After(s.takes)
	if err := s.fails.Load(); err != nil {
		return 0, *err
	}
	return 0, nil
}

func (s *slow) reset() { s.resets.Add(1) }

type noObserver struct{ Observer }

// A Temporal that fails without end is asked for a fifth of the time, and keeps what is known of the
// living. A death is looked into at once, and without long pauses.
func TestASearchInDoubtTakesAPartOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finder, takes := &slow{takes: 10 * time.Second}, 10*time.Second
		search := newSearch(finder)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { search.run(ctx, noObserver{}) })
		defer running.Wait()
		defer cancel()
		<-time.After(tuning.QuietSweeps * (takes + tuning.SweepPause)) // that of the start
		synctest.Wait()
		begun := func(span time.Duration, during func()) int64 {
			before := finder.passes.Load()
			for range int(span / time.Second) {
				during()
				<-time.After(time.Second)
			}
			return finder.passes.Load() - before
		}
		require.Zero(t, begun(time.Hour, func() {}), "there is nothing to look for")
		require.EqualValues(t, 1, finder.resets.Load())
		require.EqualValues(t, 72, begun(time.Hour-10*time.Second, search.afterTrouble), "each with a pause of four times as long")
		require.EqualValues(t, 2, finder.resets.Load(), "once, as the trouble began")
		<-time.After(5 * takes / 2) // in a pause
		search.afterDeath()
		synctest.Wait()
		require.EqualValues(t, 3, finder.resets.Load(), "it does not wait for the pause")
		require.EqualValues(t, 4, begun(59*time.Second, func() {}), "one each twelve seconds")
	})
}

// told counts what an observer is told.
type told struct {
	Observer
	failed atomic.Int64
}

func (o *told) Failed(error) { o.failed.Add(1) }

// Nothing is known of what dead workers had while it cannot be listed. So the search goes on until it
// can, and tells of it once. Another error ends no search, and prolongs none.
func TestASearchOutlastsVisibility(t *testing.T) {
	broken := errors.New("no run can be read")
	for name, c := range map[string]struct {
		fails  error
		passes int64
	}{
		"not listed": {errUnlisted, 60 + tuning.QuietSweeps},
		"not read":   {broken, tuning.QuietSweeps},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				finder, observer := &slow{}, &told{}
				finder.fails.Store(&c.fails)
				search := newSearch(finder)
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { search.run(ctx, observer) })
				defer running.Wait()
				defer cancel()
				<-time.After(60*tuning.SweepPause - tuning.SweepPause/2)
				finder.fails.Store(nil)
				<-time.After(time.Hour)
				require.Equal(t, c.passes, finder.passes.Load())
				require.EqualValues(t, 1, observer.failed.Load())
			})
		})
	}
}
