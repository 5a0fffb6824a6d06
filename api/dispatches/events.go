package dispatches

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

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
	shared, leave := h.followed.follow(key)
	defer leave()
	view, err := shared.get(ctx)
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
		if view, err = h.next(ctx, shared, ticks.C, stream.SendComment); err != nil {
			return nil //nolint:nilerr // the stream ends, and who wants more comes back
		}
	}
}

// next returns the state of the dispatch after a pause. While Temporal does not answer, it calls beat and
// asks again. It returns an error once the client is gone, or the dispatch.
func (h handlers) next(ctx context.Context, shared *sharedView, ticks <-chan time.Time, beat func() error) (dispatch.View, error) {
	for {
		select {
		case <-ctx.Done():
			return dispatch.View{}, ctx.Err()
		case <-h.followed.stopping.Done():
			return dispatch.View{}, errStopping
		case <-ticks:
		}
		view, err := shared.get(ctx)
		if wire.CodeOf(err) != wire.Unavailable {
			return view, err
		}
		if err := beat(); err != nil {
			return view, err
		}
	}
}

// errStopping ends what follows a dispatch when this process stops.
var errStopping = errors.New("the gateway is shutting down")
