package api

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/timers"
)

type listBody struct {
	Timers        []timer.View `json:"timers"`
	NextPageToken string       `json:"next_page_token"`
}

// listExamples has the parameters whose values are of this list only.
var listExamples = map[string]string{"status": string(timer.Scheduled)}

func (h timerHandlers) listTimers(c echo.Context) error {
	q := readQuery(c, "business_type", "business_id", "status", labelName, "due_from", "due_to", "ended_from", "ended_to", "sort", "attempts", pageTokenName, "page_size")
	request := timers.PageRequest{
		Filter: timer.Filter{
			BusinessType: q.businessType(), BusinessID: q.businessID("business_id"), Status: oneOf(q, "status", timer.Statuses()), Labels: q.labels(),
			DueFrom: q.instant("due_from"), DueTo: q.instant("due_to"),
			EndedFrom: q.instant("ended_from"), EndedTo: q.instant("ended_to"),
		},
		Sort: oneOf(q, "sort", []timer.Sort{timer.DueFirst, timer.DueLast}),
		Size: q.number("page_size", defaultPageSize, maxPageSize), OnePerBooking: true, Progress: q.values.Get("attempts") == "" || q.flag("attempts"),
	}
	list := fmt.Sprint(request.Filter, request.Sort)
	request.Token = q.pageToken(list)
	if err := q.err(); err != nil {
		return err
	}
	if err := permit(c.Request().Context(), request.Filter.BusinessType); err != nil {
		return err
	}
	page, err := h.Timers.List(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, listBody{Timers: page.Timers, NextPageToken: sealToken(page.Next, list)})
}
