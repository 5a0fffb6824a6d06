package dispatches

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// A moment in which Temporal does not answer ends no stream; before the first event it is
// a problem.
func TestFollowingGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		get := func(context.Context, wire.Key) (dispatch.View, error) {
			if reads++; reads == 2 {
				return dispatch.View{}, &wire.Error{Code: wire.Unavailable}
			}
			return dispatch.View{Status: dispatch.Running}, nil
		}
		stopping, stop := context.WithCancel(t.Context())
		f := &followed{get: get, stopping: stopping, views: map[wire.Key]*sharedView{}}
		dispatch, done := f.follow(wire.Key{})
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		_, err := dispatch.get(t.Context())
		require.NoError(t, err)
		began, beats := time.Now(), 0
		beat := func() error { beats++; return nil }
		_, err = handlers{followed: f}.next(t.Context(), dispatch, ticks.C, beat)
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Equal(t, 1, beats, "the client sees that the gateway is alive")
		stop()
		_, err = handlers{followed: f}.next(t.Context(), dispatch, nil, beat)
		require.ErrorIs(t, err, errStopping)

		other, gone := f.follow(wire.Key{})
		_, err = other.get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, reads, "who comes just after does not ask again")
		done()
		gone()
		require.Empty(t, f.views)
	})
}

// Followers share a read that takes long. A follower that leaves does not wait for it, and does not
// end it for the others.
func TestFollowersShareARead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads, answer := 0, make(chan error)
		d := &sharedView{read: func(ctx context.Context) (dispatch.View, error) {
			reads++
			select {
			case err := <-answer:
				return dispatch.View{Status: dispatch.Running}, err
			case <-ctx.Done():
				return dispatch.View{}, ctx.Err()
			}
		}}
		looked := make(chan error, 3)
		look := func(ctx context.Context) {
			go func() { _, err := d.get(ctx); looked <- err }()
			synctest.Wait()
		}
		leaving, leave := context.WithCancel(t.Context())
		look(leaving)
		look(t.Context())
		look(t.Context())
		leave()
		require.ErrorIs(t, <-looked, context.Canceled)
		synctest.Wait()
		require.Empty(t, looked)
		answer <- &wire.Error{Code: wire.Unavailable}
		for range 2 {
			require.Equal(t, wire.Unavailable, wire.CodeOf(<-looked), "an outage is found once")
		}
		require.Equal(t, 1, reads)
	})
}
