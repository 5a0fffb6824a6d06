package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/timer"
)

const redeliveriesPath = versionPrefix + "redeliveries"

// Jobs tries many failed timers again.
type Jobs interface {
	StartRedelivery(ctx context.Context, order timer.Redelivery) (timer.RedeliveryView, error)
	Redelivery(ctx context.Context, id string) (timer.RedeliveryView, error)
	Redeliveries(ctx context.Context, r engine.RedeliveriesRequest) (page []timer.RedeliveryView, next []byte, err error)
	StopRedelivery(ctx context.Context, id string, wait time.Duration) (timer.RedeliveryView, error)
}

func (s *Server) redeliveryRoutes(g *echo.Group) {
	g.GET("", s.listRedeliveries)
	g.GET("/:id", s.getRedelivery)
	g.DELETE("/:id", s.stopRedelivery)
}

// redeliveryBody is the order as a client writes it.
type redeliveryBody struct {
	Filter    *redeliveryFilter `json:"filter"`
	PerSecond *float64          `json:"per_second"`
}

type redeliveryFilter struct {
	BusinessType *string        `json:"business_type"`
	Status       *timer.Status  `json:"status"`
	EndedFrom    *timer.Instant `json:"ended_from"`
	EndedTo      *timer.Instant `json:"ended_to"`
}

// left is what is wrong with what the order leaves out: all failed timers of all types
// must be asked for.
func (b redeliveryBody) left() (errs timer.FieldErrors) {
	switch {
	case b.Filter == nil:
		errs.Add("/filter", timer.CodeRequired, "is required; {} selects every failed timer")
	case b.Filter.BusinessType != nil && *b.Filter.BusinessType == "":
		errs.Under("/filter", timer.CheckBusinessType(""))
	}
	return errs
}

func (s *Server) startRedelivery(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	body, err := readObject(c)
	if err != nil {
		return err
	}
	order, err := body.redelivery()
	if err != nil {
		return err
	}
	view, err := s.jobs.StartRedelivery(c.Request().Context(), order)
	if err != nil {
		return err
	}
	return acceptRedelivery(c, view)
}

// redelivery reads an order. What cannot be read does not keep the rest from
// being checked.
func (o object) redelivery() (timer.Redelivery, error) {
	var body redeliveryBody
	errs := o.fill(&body)
	filter := value(body.Filter)
	order := timer.Redelivery{PerSecond: timer.DefaultRedeliveryRate, Filter: timer.FailedFilter{
		BusinessType: value(filter.BusinessType), EndedFrom: value(filter.EndedFrom), EndedTo: value(filter.EndedTo),
	}}
	errs.Complete(body.left())
	if body.PerSecond != nil {
		order.PerSecond = *body.PerSecond
	}
	if filter.Status != nil && *filter.Status != timer.Failed {
		errs.Add("/filter/status", timer.CodeInvalidParameter, "must be failed: nothing else can be redelivered")
	}
	errs.Complete(order.Check())
	return order, errs.Err()
}

type redeliveriesBody struct {
	Redeliveries  []timer.RedeliveryView `json:"redeliveries"`
	NextPageToken string                 `json:"next_page_token"`
}

func (s *Server) listRedeliveries(c echo.Context) error {
	q := readQuery(c, "status", "page_token", "page_size")
	request := engine.RedeliveriesRequest{
		Status: q.redeliveryStatus("status"), Size: q.number("page_size", defaultRedeliveries, maxRedeliveries),
	}
	filter := "redeliveries " + string(request.Status)
	request.Token = q.pageToken(filter)
	if err := q.err(); err != nil {
		return err
	}
	page, next, err := s.jobs.Redeliveries(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, redeliveriesBody{Redeliveries: page, NextPageToken: sealToken(next, filter)})
}

func (q *query) redeliveryStatus(name string) timer.RedeliveryStatus {
	value := timer.RedeliveryStatus(q.values.Get(name))
	if value != "" && !slices.Contains(timer.RedeliveryStatuses(), value) {
		q.errs.Add(name, timer.CodeInvalidParameter, fmt.Sprintf("must be one of %v", timer.RedeliveryStatuses()))
	}
	return value
}

func (s *Server) getRedelivery(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	view, err := s.jobs.Redelivery(c.Request().Context(), pathParam(c, paramID))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

func (s *Server) stopRedelivery(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	view, err := s.jobs.StopRedelivery(c.Request().Context(), pathParam(c, paramID), engine.DefaultWait)
	if err != nil {
		return err
	}
	if view.Status == timer.RedeliveryRunning {
		return acceptRedelivery(c, view)
	}
	return c.JSON(http.StatusOK, view)
}

func acceptRedelivery(c echo.Context, view timer.RedeliveryView) error {
	c.Response().Header().Set(echo.HeaderLocation, redeliveriesPath+"/"+view.ID)
	return c.JSON(http.StatusAccepted, view)
}
