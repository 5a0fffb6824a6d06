package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine"
)

// Series is what recurring timers have beside the others, and pauses timers of both kinds.
type Series interface {
	Pause(ctx context.Context, target engine.Target, pause timer.Pause) (timer.View, engine.Effect, error)
	Upcoming(ctx context.Context, key wire.Key, count int) (timer.Upcoming, error)
	Occurrences(ctx context.Context, key wire.Key, size int, token []byte) (engine.Occurrences, error)
}

// pauseBody is what a pause or a resumption may say. It may be left out.
type pauseBody struct {
	Note *string `json:"note"`
}

// pausing stops a timer, or lets it go on.
func (s *Server) pausing(stop bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		target, err := targetOf(c)
		if err != nil {
			return err
		}
		note, err := readNote(c)
		if err != nil {
			return err
		}
		view, effect, err := s.series.Pause(c.Request().Context(), target, timer.Pause{Stop: stop, Note: note})
		if err == nil {
			s.showLateness(c, view)
		}
		return answerEffect(c, view, effect, err)
	}
}

func readNote(c echo.Context) (string, error) {
	if c.Request().ContentLength == 0 {
		return "", nil
	}
	object, err := readObject(c)
	if err != nil {
		return "", err
	}
	var body pauseBody
	errs := object.fill(&body)
	if len(value(body.Note)) > wire.MaxNote {
		errs.AddMost("/note", wire.MaxNote, "bytes")
	}
	return value(body.Note), errs.Err()
}

func (s *Server) listUpcoming(c echo.Context) error {
	key, err := pathKey(c)
	if err != nil {
		return err
	}
	q := readQuery(c, "count")
	count := q.number("count", recurrence.DefaultUpcoming, recurrence.MaxUpcoming)
	if err := q.err(); err != nil {
		return err
	}
	upcoming, err := s.series.Upcoming(c.Request().Context(), key, count)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, upcoming)
}

type occurrencesBody struct {
	Occurrences   []timer.Past `json:"occurrences"`
	NextPageToken string       `json:"next_page_token"`
}

func (s *Server) listOccurrences(c echo.Context) error {
	key, err := pathKey(c)
	if err != nil {
		return err
	}
	q := readQuery(c, "page_token", "page_size")
	size := q.number("page_size", defaultPageSize, maxPageSize)
	token := q.pageToken(key)
	if err := q.err(); err != nil {
		return err
	}
	page, err := s.series.Occurrences(c.Request().Context(), key, size, token)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, occurrencesBody{Occurrences: page.Past, NextPageToken: sealToken(page.Next, key)})
}
