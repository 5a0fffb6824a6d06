package timers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/histories"
)

// Histories tell the whole story of a timer.
type Histories interface {
	List(ctx context.Context, key wire.Key, size int, from string) (histories.Page, error)
}

// HistoryBody is a page of the history of a timer.
type HistoryBody struct {
	Entries       []timer.HistoryEntry `json:"entries"`
	NextPageToken string               `json:"next_page_token"`
}

func (h handlers) listHistory(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	q := requests.ReadQuery(c, requests.PageTokenName, "page_size")
	size := q.Number("page_size", limits.DefaultRuns, limits.MaxRuns)
	filter := "history " + key.String()
	from := q.PageToken(filter)
	if err := q.Err(); err != nil {
		return err
	}
	page, err := h.Histories.List(c.Request().Context(), key, size, string(from))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, HistoryBody{Entries: page.Entries, NextPageToken: requests.SealToken([]byte(page.Next), filter)})
}
