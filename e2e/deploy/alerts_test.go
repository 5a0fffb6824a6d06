package deploy_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/delivery"
	coredelivery "github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/observe"
)

const (
	scrapes  = 92
	quiet    = 40 // scrapes before the first event
	interval = 15 * time.Second
)

// metrics are the metrics of a process.
type metrics struct {
	*observe.Telemetry
	*delivery.Reporter
}

// incident is an event at a process from a scrape on.
type incident struct {
	alert  string
	happen func(metrics)
	// goesOn reports whether it happens at each scrape, or once.
	goesOn bool
}

var late = int64(60_000)

func attempt(result coredelivery.Result, link coredelivery.Link) func(metrics) {
	return func(telemetry metrics) {
		telemetry.Attempted("order", coredelivery.Report{Result: result, Link: link, LatenessMS: &late}, time.Second)
	}
}

// incidents are the incidents that rules find by counters.
var incidents = map[string]incident{
	"the first that failed":         {"WakecallGivesUp", attempt(coredelivery.ResultFailed, ""), false},
	"the first that expired":        {"WakecallGivesUp", attempt(coredelivery.ResultExpired, ""), false},
	"the first that was overdue":    {"WakecallOverdue", func(telemetry metrics) { telemetry.Overdue("order", 1) }, false},
	"the first of a type unseen":    {"WakecallOverdue", func(telemetry metrics) { telemetry.Overdue("invoice", 1) }, false},
	"the first that was unreadable": {"WakecallUnreadable", func(telemetry metrics) { telemetry.Unreadable(1) }, false},
	"a callback is down":            {"WakecallSecondLink", attempt(coredelivery.ResultDelivered, coredelivery.LinkFallback), true},
	"a receiver that fails":         {"WakecallReceiverFails", attempt(coredelivery.ResultRetry, ""), true},
	"all of them are late":          {"WakecallLate", attempt(coredelivery.ResultDelivered, ""), true},
	"every answer is a failure":     {"WakecallErrors", func(telemetry metrics) { telemetry.Requested("POST", "/v1/timers", 503, time.Second) }, true},
}

// shown are the series of a process, scrape by scrape, in promtool's form. lost reports
// whether the zeros of a series are left out.
func shown(t *testing.T, of incident, lost func(value string) bool) (series []map[string]string) {
	t.Helper()
	telemetry, err := observe.NewTelemetry("test")
	require.NoError(t, err)
	defer func() { require.NoError(t, telemetry.Shutdown(t.Context())) }()
	deliveries := delivery.NewReporter(telemetry, observe.NewLateness(delivery.LatenessBuckets, time.Now))
	telemetry.Add(deliveries)
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order", Fallback: &coredelivery.Fallback{}}})
	telemetry.Requested("POST", "/v1/timers", 201, time.Second)
	samples := map[string][]string{}
	for at := range scrapes {
		if at == quiet || at > quiet && of.goesOn {
			of.happen(metrics{telemetry, deliveries})
		}
		answer := httptest.NewRecorder()
		telemetry.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		for line := range strings.Lines(answer.Body.String()) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || !strings.HasPrefix(name, "wakecall_") {
				continue
			}
			if lost(value) {
				value = "_"
			}
			for len(samples[name]) < at {
				samples[name] = append(samples[name], "_")
			}
			samples[name] = append(samples[name], value)
		}
	}
	for name, values := range samples {
		series = append(series, map[string]string{"series": name, "values": strings.Join(values, " ")})
	}
	return series
}

// fires reports whether the alert of an incident fires on these series.
func fires(t *testing.T, dir string, of incident, series []map[string]string) bool {
	t.Helper()
	text, err := json.Marshal(map[string]any{ // which is YAML too
		"rule_files": []string{filepath.Join(dir, "alerts.yml")}, "evaluation_interval": "15s",
		"tests": []any{map[string]any{
			"interval": "15s", "input_series": series,
			"promql_expr_test": []any{map[string]any{
				"expr":        fmt.Sprintf(`count(ALERTS{alertname=%q, alertstate="firing"})`, of.alert),
				"eval_time":   ((scrapes - 1) * interval).String(),
				"exp_samples": []any{map[string]any{"labels": "{}", "value": 1}},
			}},
		}},
	})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "test.yml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	_, err = promtool(t, dir, "test", "rules", file)
	return err == nil
}

// The rules find the product's incidents, also the first event of a series.
func TestAlertsFindTheFirstEvent(t *testing.T) {
	t.Parallel()
	dir := monitoring(t)
	for name, of := range incidents {
		series := shown(t, of, func(string) bool { return false })
		require.True(t, fires(t, dir, of, series), name)
		if !of.goesOn {
			series = shown(t, of, func(value string) bool { return value == "0" })
			require.False(t, fires(t, dir, of, series), "the oracle sees a series that is born above zero: %s", name)
		}
		none := of
		none.happen = func(metrics) {}
		require.False(t, fires(t, dir, of, shown(t, none, func(string) bool { return false })), "no alert without %s", name)
	}
}
