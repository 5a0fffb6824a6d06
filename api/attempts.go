package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/histories"
)

// Attempts tells of the attempts that were made for a timer.
type Attempts interface {
	List(ctx context.Context, key wire.Key, size int, token []byte) (histories.AttemptsPage, error)
}

type attemptsBody struct {
	Attempts      []delivery.ShownAttempt `json:"attempts"`
	NextPageToken string                  `json:"next_page_token"`
}

func (h timerHandlers) listAttempts(c echo.Context) error {
	key, err := pathKey(c)
	if err != nil {
		return err
	}
	q := readQuery(c, "page_token", "page_size")
	size := q.number("page_size", defaultRuns, maxRuns)
	filter := "attempts " + key.String()
	token := q.pageToken(filter)
	if err := q.err(); err != nil {
		return err
	}
	page, err := h.Attempts.List(c.Request().Context(), key, size, token)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, attemptsBody{Attempts: page.Attempts, NextPageToken: sealToken(page.Next, filter)})
}
