package observe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/dispatch"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// events returns the event of each counter, for one business type.
func events(telemetry *metrics, businessType string) map[string]func() {
	late := int64(1)
	all := map[string]func(){
		"wakecall_overdue_total":    func() { telemetry.Overdue(businessType, 1) },
		"wakecall_unreadable_total": func() { telemetry.Unreadable(1) },
		"wakecall_repeated_total":   telemetry.Repeated,
		"wakecall_resent_total":     telemetry.Resent,
		"wakecall_http_request_seconds": func() {
			telemetry.Requested("GET", "/v1/timers", 503, time.Second)
			telemetry.Requested("GET", "/v1/timers", 500, time.Second)
		},
	}
	for _, result := range []delivery.Result{delivery.ResultDelivered, delivery.ResultAccepted, delivery.ResultRetry, delivery.ResultFailed, delivery.ResultExpired} {
		for _, link := range []delivery.Link{"", delivery.LinkCallback, delivery.LinkFallback} {
			all[fmt.Sprint("attempts: ", result, link)] = func() {
				telemetry.Attempted(businessType, delivery.Report{Result: result, Link: link, LatenessMS: &late}, time.Second)
			}
		}
	}
	for _, outcome := range []string{dispatch.OutcomeDone, dispatch.OutcomeRetry, dispatch.OutcomeFailed} {
		all["dispatched: "+outcome] = func() { telemetry.items.Dispatched(businessType, outcome, 1) }
	}
	for _, reason := range []delivery.Result{delivery.ResultInterrupted, delivery.ResultWorkerStopping, delivery.ResultRejected} {
		all["released: "+string(reason)] = func() { telemetry.Released(reason) }
	}
	return all
}

// counted returns the samples of counters and of histograms.
func counted(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && strings.HasPrefix(series, "wakecall_") {
			found[series] = value
		}
	}
	return found
}

// No series starts above zero: rules would miss its first event.
func TestSeriesBeginAtZero(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]func(*metrics){
		"a worker": func(telemetry *metrics) {
			telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order", Fallback: &delivery.Fallback{}}})
		},
		"a gateway with receivers": func(telemetry *metrics) { telemetry.Streamed("order") },
		"a type without a label":   func(*metrics) {},
		"a type that came back": func(telemetry *metrics) {
			telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order"}})
			telemetry.PoliciesListed(nil)
			telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order", Fallback: &delivery.Fallback{}}})
		},
		"a policy with a new fallback": func(telemetry *metrics) {
			telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order"}})
			telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order", Fallback: &delivery.Fallback{}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			telemetry, show := openMetrics(t)
			known(telemetry)
			telemetry.Requested("GET", "/v1/timers", 200, time.Second) // a route has its series from its first request
			before := counted(show())
			changed := 0
			for event, happen := range events(telemetry, "order") {
				happen()
				for series, value := range counted(show()) {
					if was, there := before[series]; !there {
						require.Equal(t, "0", value, "%s: %s begins above zero", event, series)
					} else if was != value {
						changed++
					}
				}
				before = counted(show())
			}
			require.Greater(t, changed, 20, "the oracle sees events")
		})
	}
}
