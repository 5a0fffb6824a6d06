package observe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// invented is how many names a caller invents in these tests.
const invented = 5000

// series counts the series whose name begins so.
func series(text, name string) int { return strings.Count("\n"+text, "\n"+name) }

// Callers cannot make series: invented names share one.
func TestInventedNamesShareOneSeries(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	late := int64(1)
	for n := range invented {
		name := fmt.Sprint("INVENTED", n)
		telemetry.Requested(name, "", 404, time.Second)
		telemetry.Requested(name, "/v1/timers", 405, time.Second)
		telemetry.Attempted(name, delivery.Report{Result: delivery.ResultDelivered, LatenessMS: &late}, time.Second)
		telemetry.Overdue(name, 1)
	}
	text := show()
	require.NotContains(t, text, "INVENTED")
	require.Contains(t, text, fmt.Sprintf("wakecall_http_request_seconds_count{method=\"other\",route=\"other\",status=\"404\"} %d\n", invented))
	require.Contains(t, text, fmt.Sprintf("wakecall_http_request_seconds_count{method=\"other\",route=\"/v1/timers\",status=\"405\"} %d\n", invented))
	for name, want := range map[string]int{
		"wakecall_http_request_seconds_count": 6, "wakecall_attempts_total": 5, "wakecall_attempt_seconds_count": 1,
		"wakecall_lateness_seconds_count": 1, "wakecall_overdue_total": 1,
	} {
		require.Equal(t, want, series(text, name), name)
	}
	telemetry.Requested("GET", "/livez", 200, time.Second)
	require.Equal(t, 9, series(show(), "wakecall_http_request_seconds_count"), "the oracle sees a route more, with its failures")
}

// A business type is a label while it has a policy.
func TestTypesAreLabelsWhileTheyHaveAPolicy(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	attempt := func() { telemetry.Attempted("order", delivery.Report{Result: delivery.ResultDelivered}, time.Second) }
	attempt()
	require.NotContains(t, show(), `"order"`)
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order"}})
	attempt()
	require.Contains(t, show(), `wakecall_attempts_total{business_type="order",result="delivered"} 1`)
	require.Contains(t, show(), `wakecall_policy_paused{business_type="order"} 0`)
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "invoice"}})
	require.NotContains(t, show(), `"order"`, "its series end with its policy")
	attempt()
	require.Contains(t, show(), `wakecall_attempts_total{business_type="other",result="delivered"} 2`)
}

// A gateway gets no list of policies: a type is a label after a receiver of it has connected.
func TestTypesOfConnectedReceiversAreLabels(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	telemetry.Streamed("order")
	telemetry.Streams(func() map[string]int { return map[string]int{"order": 2, "a": 3, "b": 4} })
	telemetry.StreamsWait(map[string]int{"order": 5})
	telemetry.Attempted("order", delivery.Report{Result: delivery.ResultDelivered}, time.Second)
	text := show()
	for _, line := range []string{
		`wakecall_stream_connections{business_type="order"} 2`, `wakecall_stream_connections{business_type="other"} 7`,
		`wakecall_stream_waiting_timers{business_type="order"} 5`, `wakecall_attempts_total{business_type="order",result="delivered"} 1`,
	} {
		require.Contains(t, text, line)
	}
	for n := range invented {
		telemetry.Streamed(fmt.Sprint("t", n))
	}
	telemetry.Streams(func() map[string]int { return map[string]int{"order": 1, fmt.Sprint("t", invented-1): 1} })
	require.Contains(t, show(), `wakecall_stream_connections{business_type="other"} 1`, "labels are bounded")
}

// Policies beyond the bound of labels share one, and no type loses its label.
func TestTypesWithALabelAreBounded(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	first := policy.Policy{BusinessType: "z-first"}
	telemetry.PoliciesListed([]policy.Policy{first})
	policies := []policy.Policy{first}
	for n := range invented {
		policies = append(policies, policy.Policy{BusinessType: fmt.Sprint("t", n)})
	}
	telemetry.PoliciesListed(policies)
	for _, policy := range policies {
		telemetry.Attempted(policy.BusinessType, delivery.Report{Result: delivery.ResultDelivered}, time.Second)
	}
	text := show()
	require.Equal(t, 1001, series(text, "wakecall_overdue_total"), "a thousand, and the one that others share")
	require.Equal(t, 1000, series(text, "wakecall_policy_paused"))
	require.Contains(t, text, `wakecall_attempts_total{business_type="z-first",result="delivered"} 1`)
}

// A caller may pause any type. Temporal may list one twice, if it was paused again before its
// list had the resumption.
func TestPausedTypesAreLabelsOnceAndWhileTheyHaveAPolicy(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "order"}, {BusinessType: "invoice"}})
	telemetry.Paused([]policy.Emergency{{BusinessType: "order"}, {BusinessType: "order"}, {Everything: true}, {Everything: true}})
	require.Contains(t, show(), `wakecall_emergency_paused{business_type="order"} 1`)
	require.Contains(t, show(), `wakecall_emergency_paused{business_type="*"} 1`)
	require.Equal(t, 2, series(show(), "wakecall_emergency_paused"))

	emergencies := []policy.Emergency{{BusinessType: "order"}}
	for n := range invented {
		emergencies = append(emergencies, policy.Emergency{BusinessType: fmt.Sprint("INVENTED", n)})
	}
	telemetry.Paused(emergencies)
	require.NotContains(t, show(), "INVENTED")
	require.Contains(t, show(), `wakecall_emergency_paused{business_type="other"} 1`)
	require.Contains(t, show(), `wakecall_emergency_paused{business_type="*"} 0`)
	require.Equal(t, 3, series(show(), "wakecall_emergency_paused"))
	telemetry.PoliciesListed([]policy.Policy{{BusinessType: "invoice"}})
	require.NotContains(t, show(), `"order"`, "its series end with its policy")
	telemetry.Paused(nil)
	require.Equal(t, 1, series(show(), "wakecall_emergency_paused"))
}

// The SDK's own metrics are also bounded, for any values of Temporal.
func TestLabelsOfTheSDKAreBounded(t *testing.T) {
	t.Parallel()
	telemetry, show := openMetrics(t)
	handler := telemetry.SDK()
	for n := range invented {
		name := fmt.Sprint("invented", n)
		handler.WithTags(map[string]string{"workflow_type": name}).WithTags(map[string]string{"task_queue": name}).Counter("seen").Inc(1)
	}
	text := show()
	require.Contains(t, text, `task_queue="invented1"`)
	require.Contains(t, text, `task_queue="other"`)
	require.LessOrEqual(t, series(text, "seen"), 1101)
}
