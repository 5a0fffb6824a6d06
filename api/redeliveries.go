package api

import (
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/timer"
)

// redeliveryRoutes are the calls of the jobs that try failed timers again.
func redeliveryRoutes(jobs Jobs[timer.Redelivery, timer.Redelivered]) jobRoutes[timer.Redelivery, timer.Redelivered, redeliveryView] {
	return jobRoutes[timer.Redelivery, timer.Redelivered, redeliveryView]{
		jobs: jobs, name: "redeliveries", read: object.redelivery, view: viewOfRedelivery,
		businessType: func(order timer.Redelivery) string { return order.Filter.BusinessType }, noun: engine.RedeliveryNoun,
		page: func(page []redeliveryView, next string) any { return redeliveriesBody{page, next} },
	}
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
	Redeliveries  []redeliveryView `json:"redeliveries"`
	NextPageToken string           `json:"next_page_token"`
}

// redeliveryView is what a reader is shown of a redelivery.
type redeliveryView struct {
	ID     string          `json:"id"`
	Status timer.JobStatus `json:"status"`
	// CancelRequested is whether it was told to stop, and no worker has heard of it yet.
	CancelRequested bool          `json:"cancel_requested,omitzero"`
	WaitsFor        timer.Waiting `json:"waits_for,omitzero"`
	timer.Redelivered
	PerSecond float64 `json:"per_second"`
	timer.FailedFilter
	StartedAt  timer.Instant `json:"started_at"`
	FinishedAt timer.Instant `json:"finished_at,omitzero"`
	Links      timer.Links   `json:"links"`
}

func viewOfRedelivery(job engine.Job[timer.Redelivery, timer.Redelivered]) redeliveryView {
	return redeliveryView{
		ID: job.ID, Status: job.Status, CancelRequested: job.CancelRequested, WaitsFor: job.WaitsFor, Redelivered: job.Counts, PerSecond: job.Order.PerSecond, FailedFilter: job.Order.Filter,
		StartedAt: job.StartedAt, FinishedAt: job.FinishedAt, Links: job.Links,
	}
}
