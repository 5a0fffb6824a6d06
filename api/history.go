package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/histories"
)

// Histories tell the whole story of a timer.
type Histories interface {
	List(ctx context.Context, key wire.Key, size int, from string) (histories.Page, error)
}

type historyBody struct {
	Entries       []timer.HistoryEntry `json:"entries"`
	NextPageToken string               `json:"next_page_token"`
}

func (h timerHandlers) listHistory(c echo.Context) error {
	key, err := pathKey(c)
	if err != nil {
		return err
	}
	q := readQuery(c, pageTokenName, "page_size")
	size := q.number("page_size", defaultRuns, maxRuns)
	filter := "history " + key.String()
	from := q.pageToken(filter)
	if err := q.err(); err != nil {
		return err
	}
	page, err := h.Histories.List(c.Request().Context(), key, size, string(from))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, historyBody{Entries: page.Entries, NextPageToken: sealToken([]byte(page.Next), filter)})
}
