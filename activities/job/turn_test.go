package job_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/job"
	corejob "github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/turns"
)

// ofType is a kind of job that waits for its turn.
type ofType struct {
	numbers
	turns        *turns.Turns
	businessType string
}

func (o *ofType) Run(ctx context.Context) (corejob.Tally, error) {
	var at progress
	work := o.work()
	work.Turns, work.BusinessType = o.turns, o.businessType
	err := work.Run(ctx, &at)
	return job.End(ctx, at.Tally, err)
}

// carryOut tries until the job is done, as its workflow does.
func (o *ofType) carryOut(t *testing.T, first *try) {
	t.Helper()
	for y := first; ; {
		_, err := y.runs(t, o.Run)
		if err == nil {
			return
		}
		y = &try{from: y.last(), stop: make(chan struct{}), job: t.Context()}
	}
}

// Slow jobs of one type that hold every place do not hold up another type's jobs, and each
// of their numbers is still dealt with once.
func TestJobsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := turns.New(3, 5*time.Second)
		var running sync.WaitGroup
		slow, tries := make([]*ofType, 5), make([]*try, 5)
		for n := range slow {
			slow[n] = &ofType{numbers{upTo: 20, page: 7, perSecond: 1}, shared, "slow"}
			tries[n] = &try{stop: make(chan struct{}), job: t.Context()}
			running.Go(func() { slow[n].carryOut(t, tries[n]) })
		}
		synctest.Wait()
		time.Sleep(900 * time.Millisecond) //nolint:forbidigo // synctest's
		began, quick := time.Now(), &ofType{numbers{upTo: 3, page: 3, perSecond: 100}, shared, "quick"}
		quick.carryOut(t, &try{stop: make(chan struct{}), job: t.Context()})
		require.Less(t, time.Since(began), 2*time.Second)
		running.Wait()
		waited := 0
		for n, o := range slow {
			require.Len(t, o.counted(), 20)
			if tries[n].told[0].Waits != 0 {
				waited++
			}
		}
		require.Positive(t, waited, "those that waited said so")
	})
}

// A job whose worker stops while it waits, or that has waited there long, goes on waiting at the
// next worker. It keeps the time of its first wait, and precedes jobs that have waited for less.
func TestAJobWaitsAtTwoWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, crowded := wire.At(time.Now()), turns.New(1, time.Hour)
		require.NotNil(t, crowded.Acquire(t.Context(), "other", time.Now()))
		o := &ofType{numbers{upTo: 3, page: 3, perSecond: 100}, crowded, "slow"}
		stopped := &try{stop: make(chan struct{}), job: t.Context()}
		time.AfterFunc(10*time.Second, func() { close(stopped.stop) })
		_, err := stopped.runs(t, o.Run)
		require.Error(t, err, "its worker stops")
		long := &try{from: stopped.last(), stop: make(chan struct{}), job: t.Context()}
		_, err = long.runs(t, o.Run)
		require.Error(t, err, "it is handed on")
		require.Equal(t, began, long.last().Waits)
		require.Empty(t, o.counted())

		o.turns = turns.New(1, time.Hour)
		place, later := o.turns.Acquire(t.Context(), "other", time.Now()), time.Duration(0)
		var running sync.WaitGroup
		running.Go(func() {
			place := o.turns.Acquire(t.Context(), "slow", time.Now())
			later = time.Since(began.Time())
			place.Release()
		})
		running.Go(func() {
			last := &try{from: long.last(), stop: make(chan struct{}), job: t.Context()}
			_, err := last.runs(t, o.Run)
			require.NoError(t, err)
			require.Zero(t, last.last().Waits)
		})
		time.Sleep(time.Second) //nolint:forbidigo // synctest's
		place.Release()
		running.Wait()
		require.Len(t, o.counted(), 3)
		require.Greater(t, later, o.began[0].at.Sub(began.Time()), "who has waited longest comes first")
	})
}
