package timers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/timers"
)

// Series lists the occurrences of recurring timers.
type Series interface {
	Upcoming(ctx context.Context, key wire.Key, count int) (timer.Upcoming, error)
	Occurrences(ctx context.Context, key wire.Key, size int, token []byte) (timers.Occurrences, error)
}

func (h handlers) listUpcoming(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	q := requests.ReadQuery(c, "count")
	count := q.Number("count", recurrence.DefaultUpcoming, recurrence.MaxUpcoming)
	if err := q.Err(); err != nil {
		return err
	}
	upcoming, err := h.Series.Upcoming(c.Request().Context(), key, count)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, upcoming)
}

type occurrencesBody struct {
	Occurrences   []timer.Past `json:"occurrences"`
	NextPageToken string       `json:"next_page_token"`
}

func (h handlers) listOccurrences(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	q := requests.ReadQuery(c, requests.PageTokenName, "page_size")
	size := q.Number("page_size", limits.DefaultPageSize, limits.MaxPageSize)
	token := q.PageToken(key)
	if err := q.Err(); err != nil {
		return err
	}
	page, err := h.Series.Occurrences(c.Request().Context(), key, size, token)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, occurrencesBody{Occurrences: page.Past, NextPageToken: requests.SealToken(page.Next, key)})
}
