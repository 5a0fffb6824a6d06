package dispatches

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// followed has the dispatches with followers. Each is read once in a pause between
// two events, however many follow it.
type followed struct {
	get func(context.Context, wire.Key) (dispatch.View, error)
	// stopping is done once this process stops.
	stopping context.Context

	mu    sync.Mutex
	views map[wire.Key]*sharedView
}

func newFollowed(stopping context.Context, dispatches Dispatches) *followed {
	return &followed{
		get:      func(ctx context.Context, key wire.Key) (dispatch.View, error) { return dispatches.Get(ctx, key) },
		stopping: stopping, views: map[wire.Key]*sharedView{},
	}
}

// follow returns the view of a dispatch that its followers share. A follower calls leave once.
func (f *followed) follow(key wire.Key) (view *sharedView, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	view, ok := f.views[key]
	if !ok {
		view = &sharedView{read: func(ctx context.Context) (dispatch.View, error) { return f.get(ctx, key) }}
		f.views[key] = view
	}
	view.followers++
	return view, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if view.followers--; view.followers == 0 {
			delete(f.views, key)
		}
	}
}

// sharedView is how a dispatch stood when it was read last.
type sharedView struct {
	read      func(context.Context) (dispatch.View, error)
	followers int // guarded by that of followed
	reads     singleflight.Group

	mu   sync.Mutex
	at   time.Time
	view dispatch.View
}

// get is how the dispatch stands, or stood half a pause ago. Followers share a read. A follower
// that leaves ends its own wait only.
func (s *sharedView) get(ctx context.Context) (dispatch.View, error) {
	if view, fresh := s.known(); fresh {
		return view, nil
	}
	answer := s.reads.DoChan("", func() (any, error) { return s.refresh(context.WithoutCancel(ctx)) })
	select {
	case result := <-answer:
		return result.Val.(dispatch.View), result.Err
	case <-ctx.Done():
		return dispatch.View{}, &wire.Error{Code: wire.Unavailable, Message: "The dispatch was not read in time.", Cause: ctx.Err()}
	}
}

func (s *sharedView) known() (view dispatch.View, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view, !s.at.IsZero() && time.Since(s.at) < tuning.EventPause/2
}

// refresh reads the dispatch, outside of the goroutine of a handler, where a panic would end the process.
func (s *sharedView) refresh(ctx context.Context) (view dispatch.View, err error) {
	defer answers.Recover(&err)
	if view, fresh := s.known(); fresh { // by the read that ended just now
		return view, nil
	}
	if view, err = s.read(ctx); err != nil {
		return view, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view, s.at = view, time.Now()
	return view, nil
}
