package observe_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
)

var ownMetric = regexp.MustCompile(`wakecall_[a-z_]+[a-z]`)

func TestOperationsNameEveryMetric(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	named := slices.Sorted(slices.Values(ownMetric.FindAllString(string(page), -1)))
	require.Equal(t, exported(t), slices.Compact(named))
}

// exported returns the sorted metrics of a process after every kind of event.
func exported(t *testing.T) []string {
	t.Helper()
	telemetry, show := openMetrics(t)
	late, limit := int64(1), 5.0
	telemetry.Attempted("order", delivery.Report{LatenessMS: &late, Link: delivery.LinkFallback}, time.Second)
	telemetry.Released(delivery.ResultInterrupted)
	telemetry.Overdue("order", 1)
	telemetry.Unreadable(2)
	telemetry.Requested("GET", "/livez", 200, time.Second)
	telemetry.Queue(func() int { return 7 })
	telemetry.items.Dispatched("order", "done", 1)
	telemetry.items.Dispatching(wire.Key{BusinessType: "order", BusinessID: "1"}, 0, 1, time.Second)
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order", Limits: policy.Limits{CallbacksPerSecond: &limit}}})
	telemetry.Streams(func() map[string]int { return map[string]int{"order": 2} })
	telemetry.StreamsWait(map[string]int{"order": 3, "invoice": 4})
	telemetry.Canary([]string{"ring"}).Took("ring", time.Second)
	text := show()
	require.Contains(t, text, "\nwakecall_queued_bookings 7\n")
	var names []string
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (wakecall_\w+)`).FindAllStringSubmatch(text, -1) {
		names = append(names, line[1])
	}
	return names
}

// No quantile lies above the last finite bucket, so what may take long needs buckets that reach
// beyond it.
func TestBucketsReachTheLongestTimes(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	late := int64(1)
	telemetry.Attempted("order", delivery.Report{LatenessMS: &late}, time.Second)
	telemetry.Requested("GET", "/v1/streams/:type", 200, time.Second)
	shown := show()
	for metric, longest := range map[string]time.Duration{
		"wakecall_attempt_seconds": delivery.MaxAttemptTimeout, "wakecall_http_request_seconds": kernel.MaxWait, "wakecall_lateness_seconds": 10 * time.Minute,
	} {
		last := 0.0
		for _, bucket := range regexp.MustCompile(metric+`_bucket\{[^}]*le="([0-9.]+)"`).FindAllStringSubmatch(shown, -1) {
			bound, err := strconv.ParseFloat(bucket[1], 64)
			require.NoError(t, err)
			last = max(last, bound)
		}
		require.Greater(t, last, longest.Seconds(), metric)
	}
}

// A fault that begins is seen as a change, so the steps of a canary begin without one.
func TestTheStepsOfACanaryBeginWithoutAFault(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	canary := telemetry.Canary([]string{"book", "ring"})
	shown := show()
	require.Contains(t, shown, `wakecall_canary_failed{step="ring"} 0`)
	require.NotContains(t, shown, "wakecall_canary_step_seconds{", "nothing was measured yet")
	canary.Booked(time.Unix(1_000_000, 0))
	canary.Stepped("ring", true)
	canary.Took("book", 5*time.Millisecond)
	shown = show()
	require.Contains(t, shown, `wakecall_canary_failed{step="ring"} 1`)
	require.Contains(t, shown, `wakecall_canary_step_seconds{step="book"} 0.005`)
	require.Contains(t, shown, "wakecall_canary_last_timestamp_seconds 1e+06")
}
