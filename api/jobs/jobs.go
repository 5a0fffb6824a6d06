package jobs

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/engine/kernel"
)

// Jobs starts, shows, lists and stops the jobs of one kind. O is what is ordered, and C
// the counts of what became of it.
type Jobs[O jobs.Order, C any] interface {
	Start(ctx context.Context, order O) (jobs.Job[O, C], error)
	Get(ctx context.Context, id string) (jobs.Job[O, C], error)
	List(ctx context.Context, r jobs.Request) (page []jobs.Job[O, C], next []byte, err error)
	Stop(ctx context.Context, id string, wait time.Duration) (jobs.Job[O, C], error)
}

// handlers answer the calls on one kind of job. A reader is shown V.
type handlers[O jobs.Order, C, V any] struct {
	jobs Jobs[O, C]
	// name is the kind's in paths and page tokens.
	name string
	// read reads an order, view is what a reader is shown of a job, and page the answer
	// with one page of them.
	read func(decode.Object) (O, error)
	view func(jobs.Job[O, C]) V
	page func(jobs []V, next string) any
	// businessType is the one that an order is for; "" for all.
	businessType func(O) string
	// noun is what a job is called.
	noun string
}

func (h handlers[O, C, V]) path() string { return paths.Prefix + h.name }

// register adds the calls, but for the one that starts a job.
func (h handlers[O, C, V]) register(to calls.Routes) {
	to.Get("", calls.Viewing(calls.Filtered, calls.NoPayloads).Showing(map[string]string{"status": string(job.Running)}), h.list)
	to.Get("/:id", calls.Viewing(calls.ByID, calls.NoPayloads), h.get)
	to.Delete("/:id", calls.Operating(calls.ByID, calls.NoPayloads), h.stop)
}

func (h handlers[O, C, V]) start(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	body, err := requests.ReadObject(c)
	if err != nil {
		return err
	}
	order, err := h.read(body)
	if err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), h.businessType(order)); err != nil {
		return err
	}
	audits.EntryOf(c).SetJob(h.businessType(order), "")
	job, err := h.jobs.Start(c.Request().Context(), order)
	if err != nil {
		return err
	}
	audits.EntryOf(c).SetJob(h.businessType(order), job.ID)
	if job.Again {
		audits.EntryOf(c).SetUnchanged()
		return c.JSON(http.StatusOK, h.view(job))
	}
	return h.accept(c, job)
}

// permitted returns a job if the caller may make this call on it.
func (h handlers[O, C, V]) permitted(ctx context.Context, id string) (jobs.Job[O, C], error) {
	job, err := h.jobs.Get(ctx, id)
	if err == nil {
		err = calls.PermitFound(ctx, h.businessType(job.Order), jobs.NoSuchJob(h.noun))
	}
	return job, err
}

func (h handlers[O, C, V]) get(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	job, err := h.permitted(c.Request().Context(), paths.Param(c, paths.ID))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.view(job))
}

func (h handlers[O, C, V]) list(c echo.Context) error {
	q := requests.ReadQuery(c, "status", requests.PageTokenName, "page_size")
	request := jobs.Request{Status: requests.OneOf(q, "status", job.Statuses()),
		Size: q.Number("page_size", limits.DefaultJobs, limits.MaxJobs)}
	filter := h.name + " " + string(request.Status)
	request.Token = q.PageToken(filter)
	if err := q.Err(); err != nil {
		return err
	}
	page, next, err := h.jobs.List(c.Request().Context(), request)
	if err != nil {
		return err
	}
	views := make([]V, 0, len(page))
	for _, job := range page {
		if calls.Sees(c.Request().Context(), h.businessType(job.Order)) {
			views = append(views, h.view(job))
		}
	}
	return c.JSON(http.StatusOK, h.page(views, requests.SealToken(next, filter)))
}

func (h handlers[O, C, V]) stop(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	found, err := h.permitted(c.Request().Context(), paths.Param(c, paths.ID))
	if found.ID != "" { // it is recorded also where the caller may not know of it
		audits.EntryOf(c).SetJob(h.businessType(found.Order), found.ID)
	}
	if err != nil {
		return err
	}
	j, err := h.jobs.Stop(c.Request().Context(), paths.Param(c, paths.ID), kernel.DefaultWait)
	if err != nil {
		return err
	}
	if j.Status == job.Running {
		return h.accept(c, j)
	}
	return c.JSON(http.StatusOK, h.view(j))
}

func (h handlers[O, C, V]) accept(c echo.Context, job jobs.Job[O, C]) error {
	c.Response().Header().Set(echo.HeaderLocation, h.path()+"/"+job.ID)
	return c.JSON(http.StatusAccepted, h.view(job))
}
