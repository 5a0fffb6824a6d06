package api

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/jobs"
)

// redeliveryRoutes are the calls of the jobs that try failed timers again.
func redeliveryRoutes(redeliveries Jobs[job.Redelivery, job.Redelivered]) jobRoutes[job.Redelivery, job.Redelivered, redeliveryView] {
	return jobRoutes[job.Redelivery, job.Redelivered, redeliveryView]{
		jobs: redeliveries, name: "redeliveries", read: object.redelivery, view: viewOfRedelivery,
		businessType: func(order job.Redelivery) string { return order.Filter.BusinessType }, noun: jobs.RedeliveryNoun,
		page: func(page []redeliveryView, next string) any { return redeliveriesBody{page, next} },
	}
}

// redeliveryBody is the order as a client writes it.
type redeliveryBody struct {
	Filter    *redeliveryFilter `json:"filter"`
	PerSecond *float64          `json:"per_second"`
}

type redeliveryFilter struct {
	BusinessType *string       `json:"business_type"`
	Status       *timer.Status `json:"status"`
	EndedFrom    *wire.Instant `json:"ended_from"`
	EndedTo      *wire.Instant `json:"ended_to"`
}

// left is what is wrong with what the order leaves out: all failed timers of all types
// must be asked for.
func (b redeliveryBody) left() (errs wire.FieldErrors) {
	switch {
	case b.Filter == nil:
		errs.Add("/filter", wire.CodeRequired, "is required; {} selects every failed timer")
	case b.Filter.BusinessType != nil && *b.Filter.BusinessType == "":
		errs.Under("/filter", wire.CheckBusinessType(""))
	}
	return errs
}

// redelivery reads an order. What cannot be read does not keep the rest from
// being checked.
func (o object) redelivery() (job.Redelivery, error) {
	var body redeliveryBody
	errs := o.fill(&body)
	filter := value(body.Filter)
	order := job.Redelivery{PerSecond: job.DefaultRedeliveryRate, Filter: job.FailedFilter{
		BusinessType: value(filter.BusinessType), EndedFrom: value(filter.EndedFrom), EndedTo: value(filter.EndedTo),
	}}
	errs.Complete(body.left())
	if body.PerSecond != nil {
		order.PerSecond = *body.PerSecond
	}
	if filter.Status != nil && *filter.Status != timer.Failed {
		errs.Add("/filter/status", wire.CodeInvalidParameter, "must be failed: nothing else can be redelivered")
	}
	errs.Complete(order.Check(time.Now()))
	return order, errs.Err()
}

type redeliveriesBody struct {
	Redeliveries  []redeliveryView `json:"redeliveries"`
	NextPageToken string           `json:"next_page_token"`
}

// redeliveryView is what a reader is shown of a redelivery.
type redeliveryView struct {
	ID     string     `json:"id"`
	Status job.Status `json:"status"`
	// CancelRequested is whether it was told to stop, and no worker has heard of it yet.
	CancelRequested bool             `json:"cancel_requested,omitzero"`
	WaitsFor        delivery.Waiting `json:"waits_for,omitzero"`
	job.Redelivered
	PerSecond float64 `json:"per_second"`
	job.FailedFilter
	StartedAt  wire.Instant `json:"started_at"`
	FinishedAt wire.Instant `json:"finished_at,omitzero"`
	Links      timer.Links  `json:"links"`
}

func viewOfRedelivery(job jobs.Job[job.Redelivery, job.Redelivered]) redeliveryView {
	return redeliveryView{
		ID: job.ID, Status: job.Status, CancelRequested: job.CancelRequested, WaitsFor: job.WaitsFor, Redelivered: job.Counts, PerSecond: job.Order.PerSecond, FailedFilter: job.Order.Filter,
		StartedAt: job.StartedAt, FinishedAt: job.FinishedAt, Links: job.Links,
	}
}
