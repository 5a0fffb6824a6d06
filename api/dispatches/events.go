package dispatches

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/unbounded"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// The kinds of events. Both tell how the dispatch stands; the second is the last one.
const (
	eventProgress = "progress"
	eventEnd      = "end"
)

// events tells once a second how a dispatch stands, until it has ended.
func (h handlers) events(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	ctx, cancel := auth.Until(c.Request().Context())
	defer cancel()
	dispatch, leave := h.followed.follow(key)
	defer leave()
	view, err := dispatch.look(ctx)
	if err != nil {
		return err
	}
	stream, err := unbounded.OpenEvents(c)
	if err != nil || c.Request().Method == http.MethodHead {
		return err
	}
	ticks := time.NewTicker(tuning.EventPause)
	defer ticks.Stop()
	for {
		kind := eventProgress
		if view.Status.Finished() {
			kind = eventEnd
		}
		if err := stream.Send(kind, view); err != nil || kind == eventEnd {
			return err
		}
		if view, err = h.next(ctx, dispatch, ticks.C); err != nil {
			return nil //nolint:nilerr // the stream ends, and who wants more comes back
		}
	}
}

// next returns the state of the dispatch after a pause. It asks again while Temporal does not answer. It
// returns an error once the client is gone, or the dispatch.
func (h handlers) next(ctx context.Context, d *sight, ticks <-chan time.Time) (dispatch.View, error) {
	for {
		select {
		case <-ctx.Done():
			return dispatch.View{}, ctx.Err()
		case <-h.followed.left.Done():
			return dispatch.View{}, errStopping
		case <-ticks:
		}
		view, err := d.look(ctx)
		if wire.CodeOf(err) != wire.Unavailable {
			return view, err
		}
	}
}

// errStopping ends what follows a dispatch when this process stops.
var errStopping = errors.New("the gateway is shutting down")

// followed has the dispatches with followers. Each is read once in a pause between
// two events, however many follow it.
type followed struct {
	get func(context.Context, wire.Key) (dispatch.View, error)
	// left is done once this process leaves.
	left context.Context

	mu     sync.Mutex
	sights map[wire.Key]*sight
}

func newFollowed(left context.Context, dispatches Dispatches) *followed {
	return &followed{
		get:  func(ctx context.Context, key wire.Key) (dispatch.View, error) { return dispatches.Get(ctx, key) },
		left: left, sights: map[wire.Key]*sight{},
	}
}

// follow is the sight of a dispatch, until its follower leaves.
func (f *followed) follow(key wire.Key) (d *sight, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.sights[key]
	if !ok {
		d = &sight{read: func(ctx context.Context) (dispatch.View, error) { return f.get(ctx, key) }}
		f.sights[key] = d
	}
	d.followers++
	return d, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if d.followers--; d.followers == 0 {
			delete(f.sights, key)
		}
	}
}

// sight is how a dispatch stood when it was read last.
type sight struct {
	read      func(context.Context) (dispatch.View, error)
	followers int // guarded by that of followed
	reads     singleflight.Group

	mu   sync.Mutex
	at   time.Time
	view dispatch.View
}

// look is how the dispatch stands, or stood half a pause ago. Followers share a read. A follower
// that leaves ends its own wait only.
func (s *sight) look(ctx context.Context) (dispatch.View, error) {
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

func (s *sight) known() (view dispatch.View, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view, !s.at.IsZero() && time.Since(s.at) < tuning.EventPause/2
}

// refresh reads the dispatch, outside of the goroutine of a handler, where a panic would end the process.
func (s *sight) refresh(ctx context.Context) (view dispatch.View, err error) {
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
