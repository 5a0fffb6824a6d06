package dispatches

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/workflows"
)

func faster() dispatch.Change {
	rate := 20.0
	return dispatch.Change{PerSecond: &rate}
}

// With a worker at hand, a change is answered once the dispatch goes by it.
func TestADispatchIsSteered(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.added(3)
	view, applied, err := s.Change(t.Context(), key, faster(), time.Minute)
	require.NoError(t, err)
	require.True(t, applied)
	require.InDelta(t, 20, view.PerSecond, 0)
	view, applied, err = s.Pause(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.True(t, applied)
	require.True(t, view.Memo.Plan.Paused)
	view, applied, err = s.Resume(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.True(t, applied)
	require.False(t, view.Memo.Plan.Paused)
	view, applied, err = s.Cancel(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.True(t, applied)
	require.Equal(t, dispatch.Cancelled, view.Status)
	require.False(t, view.CancelRequested, "it is more than that")
	_, applied, err = s.Cancel(t.Context(), key, 0)
	require.NoError(t, err, "it is so already")
	require.True(t, applied)
}

// Without a worker a change and a cancel are durable, and told as such once the wait is over.
func TestWhatNoWorkerHasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.added(3)
		s.away()
		began := time.Now()
		_, applied, err := s.Change(t.Context(), key, faster(), 3*time.Second)
		require.NoError(t, err)
		require.False(t, applied)
		require.Equal(t, 3*time.Second, time.Since(began))
		same := 10.0
		_, applied, err = s.Change(t.Context(), key, dispatch.Change{PerSecond: &same}, 0)
		require.NoError(t, err)
		require.False(t, applied, "one that says what is so is to be heard as well")
		told := len(s.on.Signals(id))
		view, applied, err := s.Cancel(t.Context(), key, 0)
		require.NoError(t, err)
		require.False(t, applied)
		require.True(t, view.CancelRequested)
		_, _, err = s.Change(t.Context(), key, faster(), 0)
		require.Equal(t, wire.CancelPending, wire.CodeOf(err))
		require.Len(t, s.on.Signals(id), told, "it is told of nothing more")
	})
}

// What a dispatch came to before a change, or with it, is told as what it is.
func TestADispatchEndsBeforeItsChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *fixture)
		code      wire.Code
	}{
		"it is done":           {func(s *fixture) { s.end(dispatch.Done) }, wire.AlreadyFinished},
		"it is cancelled":      {func(s *fixture) { s.end(dispatch.Cancelled) }, wire.AlreadyFinished},
		"it is asked to":       {func(s *fixture) { _ = s.on.CancelWorkflow(s.t.Context(), id, "") }, wire.CancelPending},
		"somebody deletes it":  {func(s *fixture) { s.remove() }, wire.NotFound},
		"nobody does anything": {func(*fixture) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				s.added(3)
				s.away()
				time.AfterFunc(time.Second, func() { c.meanwhile(s) })
				_, applied, err := s.Change(t.Context(), key, faster(), 3*time.Second)
				require.False(t, applied)
				if c.code == "" {
					require.NoError(t, err)
					return
				}
				require.Equal(t, c.code, wire.CodeOf(err))
				require.NotContains(t, err.Error(), "timer", "it is no timer")
			})
		})
	}
}

// A dispatch that is done before it was cancelled was not cancelled.
func TestACancelThatComesTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.added(3)
		s.away()
		time.AfterFunc(time.Second, func() { s.end(dispatch.Done) })
		_, _, err := s.Cancel(t.Context(), key, time.Minute)
		require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
		_, _, err = s.Cancel(t.Context(), key, time.Minute)
		require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	})
}

func TestWhatSteeringNeeds(t *testing.T) {
	t.Parallel()
	wrong := -1.0
	for name, c := range map[string]struct {
		change dispatch.Change
		before func(s *fixture)
		code   wire.Code
	}{
		"a dispatch":       {faster(), func(*fixture) {}, wire.NotFound},
		"a rate":           {dispatch.Change{PerSecond: &wrong}, func(s *fixture) { s.added(1) }, wire.InvalidRequest},
		"one that is open": {faster(), func(s *fixture) { s.added(1); s.end(dispatch.Done) }, wire.AlreadyFinished},
		"Temporal":         {faster(), func(s *fixture) { s.added(1); s.on.Refuse("SignalWorkflow", "", errors.New("down")) }, wire.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c.before(s)
			_, _, err := s.Change(t.Context(), key, c.change, 0)
			require.Equal(t, c.code, wire.CodeOf(err))
			require.Zero(t, s.changes())
		})
	}
	s := open(t)
	_, _, err := s.Cancel(t.Context(), key, 0)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, _, err = s.Cancel(t.Context(), wire.Key{BusinessType: "order", BusinessID: "a b"}, 0)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "no dispatch has such a key")
	s.added(1)
	s.on.Refuse("CancelWorkflow", "", serviceerror.NewUnavailable("busy"))
	_, _, err = s.Cancel(t.Context(), key, 0)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	s.on.Refuse("CancelWorkflow", "", serviceerror.NewNotFound("deleted in this moment"))
	_, _, err = s.Cancel(t.Context(), key, 0)
	require.ErrorContains(t, err, "no such dispatch")
}

// changes is how many changes the dispatch has taken.
func (s *fixture) changes() int {
	if s.on.RunsOf(id) == 0 {
		return 0
	}
	return s.memo().Plan.Changes
}

// A caller who goes away is told so, and the change stays.
func TestAChangeWhoseCallerIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.added(1)
		s.away()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, _, err := s.Change(ctx, key, faster(), time.Minute)
		require.ErrorIs(t, err, context.Canceled)
		require.Contains(t, s.on.Signals(id), workflows.SignalChange)
	})
}

// A worker tells how far a dispatch is.
func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.Equal(t, wire.NotFound, wire.CodeOf(s.ReportProgress(t.Context(), key)))
	s.added(3)
	require.NoError(t, s.ReportProgress(t.Context(), key))
	require.Contains(t, s.on.Signals(id), workflows.SignalProgress)
}

// An executor goes on, gives way, or stops, by what its sign of life is answered.
func TestASignOfLife(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		code   wire.Code
	}{
		"it is taken":               {nil, ""},
		"the dispatch is cancelled": {temporal.NewCanceledError(), wire.Overtaken},
		"another executor has it":   {serviceerror.NewNotFound("activity not found"), wire.NotFound},
		"somebody has paused it":    {activity.ErrActivityPaused, wire.NotFound},
		"somebody has reset it":     {activity.ErrActivityReset, wire.NotFound},
		"Temporal is busy":          {serviceerror.NewResourceExhausted(0, "busy"), wire.Unavailable},
		"Temporal does not answer":  {context.DeadlineExceeded, wire.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Err: c.answer}
			err := dispatchesOn(on).Heartbeat(t.Context(), []byte("token"), dispatch.State{})
			require.Equal(t, c.code == "", err == nil)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
			}
		})
	}
}
