package delivery

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// handover passes an attempt from the queue it arrived on to another one.
type handover struct {
	attempt
	route route
}

// report is the report of the try that hands the attempt over.
func (h handover) report() delivery.Report {
	way := h.withRoute(h.route)
	report := way.skippedReport(delivery.ResultUseQueue)
	if h.route.link == "" {
		return report
	}
	report.Stream, report.Handed = way.callback.Stream, nil
	if !h.route.downSince.IsZero() {
		report.DownSince = wire.At(h.route.downSince)
	}
	switch {
	case way.callback.Stream:
		handed := delivery.Handover{Link: h.route.link, At: wire.At(time.Now()), Wait: wire.Duration(h.timeout()), Times: h.route.times}
		if h.route.probe != nil {
			handed.Probe = wire.Duration(h.route.probe.timeout)
		}
		report.Handed = &handed
	case h.route.link == delivery.LinkFallback: // else the worker knows best whether the callback works
		report.Handed = &delivery.Handover{Link: h.route.link, At: wire.At(time.Now())}
	}
	return report
}

// timeout is how long the attempt waits for a receiver to connect before it takes the other
// link. Zero means no limit. If the callback is down, the ladder that retries the callback
// sets it.
func (h handover) timeout() time.Duration {
	switch {
	case h.route.only:
		return 0
	case h.route.wait != 0:
		return h.route.wait
	case h.route.probe != nil:
		return tuning.FirstLinkProbe
	case h.route.link == delivery.LinkCallback:
		return h.fallback.After.D()
	}
	step := h.retry.StepFor(h.last)
	if step == 0 {
		return 0
	}
	return max(step, tuning.FirstLinkProbe)
}
