package timers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/timers"
)

// ListBody is a page of timers.
type ListBody struct {
	Timers        []timer.View `json:"timers"`
	NextPageToken string       `json:"next_page_token"`
}

// listExamples has the parameters whose values are of this list only.
var listExamples = map[string]string{"status": string(timer.Scheduled)}

func (h handlers) listTimers(c echo.Context) error {
	q := requests.ReadQuery(c, "business_type", "business_id", "status", requests.LabelName, "recurring", "due_from", "due_to",
		"ended_from", "ended_to", "sort", "attempts", requests.PageTokenName, "page_size", runIDName, webhookIDName)
	if q.Values.Has(runIDName) || q.Values.Has(webhookIDName) {
		return h.findTimer(c, q)
	}
	request := timers.PageRequest{
		Filter: timer.Filter{
			BusinessType: q.BusinessType(), BusinessID: q.BusinessID("business_id"), Status: requests.OneOf(q, "status", timer.Statuses()),
			Labels: q.Labels(), Recurring: q.Flag("recurring"),
			DueFrom: q.Instant("due_from"), DueTo: q.Instant("due_to"),
			EndedFrom: q.Instant("ended_from"), EndedTo: q.Instant("ended_to"),
		},
		Sort: requests.OneOf(q, "sort", []timer.Sort{timer.DueFirst, timer.DueLast}),
		Size: q.Number("page_size", limits.DefaultPageSize, limits.MaxPageSize), OnePerBooking: true,
		Progress: q.Values.Get("attempts") == "" || q.Flag("attempts"),
	}
	q.Errs.Under("", request.Filter.CheckSpans())
	list := fmt.Sprint(request.Filter, request.Sort)
	request.Token = q.PageToken(list)
	if err := q.Err(); err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), request.Filter.BusinessType); err != nil {
		return err
	}
	page, err := h.Timers.List(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, ListBody{Timers: page.Timers, NextPageToken: requests.SealToken(page.Next, list)})
}
