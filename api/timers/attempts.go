package timers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/histories"
)

// Attempts lists the attempts that were made for a timer.
type Attempts interface {
	List(ctx context.Context, key wire.Key, size int, token []byte) (histories.AttemptsPage, error)
}

// AttemptsBody is a page of attempts.
type AttemptsBody struct {
	Attempts      []delivery.ShownAttempt `json:"attempts"`
	NextPageToken string                  `json:"next_page_token"`
}

func (h handlers) listAttempts(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	q := requests.ReadQuery(c, requests.PageTokenName, "page_size")
	size := q.Number("page_size", limits.DefaultRuns, limits.MaxRuns)
	filter := "attempts " + key.String()
	token := q.PageToken(filter)
	if err := q.Err(); err != nil {
		return err
	}
	page, err := h.Attempts.List(c.Request().Context(), key, size, token)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, AttemptsBody{Attempts: page.Attempts, NextPageToken: requests.SealToken(page.Next, filter)})
}
