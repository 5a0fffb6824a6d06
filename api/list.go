package api

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/timers"
)

type listBody struct {
	Timers        []timer.View `json:"timers"`
	NextPageToken string       `json:"next_page_token"`
}

// listExamples has the parameters whose values are of this list only.
var listExamples = map[string]string{"status": string(timer.Scheduled)}

func (s *Server) listTimers(c echo.Context) error {
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
	page, err := s.timers.List(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, listBody{Timers: page.Timers, NextPageToken: sealToken(page.Next, list)})
}

func (q *query) businessType() string {
	const name = "business_type"
	value := q.values.Get(name)
	if value == "" {
		return value
	}
	for _, fieldErr := range wire.CheckBusinessType(value) {
		q.errs.Add(name, fieldErr.Code, fieldErr.Detail)
	}
	return value
}

func (q *query) businessID(name string) string {
	value := q.values.Get(name)
	if value == "" {
		return value
	}
	for _, fieldErr := range (wire.Key{BusinessType: "any", BusinessID: value}).Check() {
		q.errs.Add(name, fieldErr.Code, fieldErr.Detail)
	}
	return value
}

// labels are those that are asked for, each as key=value.
func (q *query) labels() (labels timer.Labels) {
	if slices.Contains(q.values[labelName], "") { // which is refused already
		return nil
	}
	if q.values.Has(labelName) {
		labels = timer.Labels{}
	}
	for _, text := range q.values[labelName] {
		key, value, ok := strings.Cut(text, "=")
		if _, twice := labels[key]; !ok || twice {
			q.errs.Add(labelName, wire.CodeInvalidParameter, "must be key=value, once for each key")
			return nil
		}
		labels[key] = value
	}
	for _, fieldErr := range labels.Check() {
		q.errs.Add(labelName, fieldErr.Code, fieldErr.Detail)
	}
	return labels
}

// markLen is the length of the mark that ties a page token to its filter.
const markLen = 8

// markOf is a checksum over a token and the filter, or timer, it belongs to. Temporal
// answers a damaged token with an error that looks like an outage.
func markOf(token []byte, filter any) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v\n%s", filter, token))
	return sum[:markLen]
}

// sealToken makes Temporal's page token opaque, and usable with one filter only.
func sealToken(token []byte, filter any) string {
	if len(token) == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(markOf(token, filter), token...))
}

func (q *query) pageToken(filter any) []byte {
	const name = "page_token"
	text := q.values.Get(name)
	if text == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) <= markLen || !slices.Equal(raw[:markLen], markOf(raw[markLen:], filter)) {
		q.errs.Add(name, wire.CodeInvalidParameter, "must be the next_page_token of a call with the same filter")
		return nil
	}
	return raw[markLen:]
}
