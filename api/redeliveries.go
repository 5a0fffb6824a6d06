package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/timer"
)

const redeliveriesPath = versionPrefix + "redeliveries"

func (s *Server) redeliveries(g *echo.Group) {
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

func (s *Server) startRedelivery(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	body, err := readObject(c, maxBody)
	if err != nil {
		return err
	}
	order, err := body.redelivery()
	if err != nil {
		return err
	}
	view, err := s.engine.StartRedelivery(c.Request().Context(), order)
	if err != nil {
		return err
	}
	return acceptRedelivery(c, view)
}

// redelivery reads an order. What cannot be read does not keep the rest from
// being checked.
func (o object) redelivery() (timer.Redelivery, error) {
	var body redeliveryBody
	faults := o.fill(&body)
	filter := value(body.Filter)
	order := timer.Redelivery{PerSecond: timer.DefaultRedeliveryRate, Filter: timer.FailedFilter{
		BusinessType: value(filter.BusinessType), EndedFrom: value(filter.EndedFrom), EndedTo: value(filter.EndedTo),
	}}
	if body.PerSecond != nil {
		order.PerSecond = *body.PerSecond
	}
	if filter.Status != nil && *filter.Status != timer.Failed {
		faults.Add("/filter/status", timer.CodeInvalidParameter, "must be failed: nothing else can be redelivered")
	}
	faults.Complete(order.Check())
	return order, faults.Err()
}

func (s *Server) getRedelivery(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	view, err := s.engine.Redelivery(c.Request().Context(), segment(c, 3))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

func (s *Server) stopRedelivery(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	view, err := s.engine.StopRedelivery(c.Request().Context(), segment(c, 3), engine.DefaultWait)
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
