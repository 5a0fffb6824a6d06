package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/workflows"
)

// Thousands of invented methods, paths and business types leave a handful of series.
func TestInventedNamesLeaveFewSeries(t *testing.T) {
	t.Parallel()
	h, _, _ := open(t)
	addr := h.Serve()
	series := func() int { return strings.Count(string(h.Do("GET", "/metrics", nil).Body), "\nwakecall_") }
	h.Do("GET", "/v1/timers", nil)
	before := series()
	const invented = 3000
	conn := dial(t, addr)
	go func() {
		for n := range invented {
			_, _ = fmt.Fprintf(conn, "M%d /v1/timers/t%d/x HTTP/1.1\r\nHost: h\r\n\r\n", n, n)
		}
	}()
	for range invented {
		answer, err := http.ReadResponse(conn.in, nil)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
	}
	grown := series() - before
	require.Positive(t, grown, "they were counted")
	require.Less(t, grown, 50)
}

// A probe that somebody ended is started again by the next question.
func TestReadinessHealsByItself(t *testing.T) {
	t.Parallel()
	h, _, _ := open(t)
	ready := func(when string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.Equal(c, http.StatusOK, h.Do("GET", "/readyz", nil).Status)
		}, 15*time.Second, 50*time.Millisecond, when)
	}
	ready("before")
	require.NoError(t, h.Client.TerminateWorkflow(t.Context(), workflows.ProbeID, "", "by hand"))
	require.NoError(t, h.Engine.Ready(t.Context()), "terminated")
	require.NoError(t, h.Client.CancelWorkflow(t.Context(), workflows.ProbeID, ""))
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, h.Engine.Ready(t.Context())) }, 15*time.Second, 50*time.Millisecond, "cancelled")
	ready("after")
}

// Of two headers that differ in case only, one would be sent at random.
func TestHeadersInTwoCases(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	twice := house.JSON{"url": r.URL, "headers": house.JSON{"X-Tenant": "a", "x-tenant": "b"}}
	for _, reply := range []house.Reply{
		h.Do("PUT", "/v1/policies/"+kind, house.JSON{"callback": twice}),
		h.Do("POST", "/v1/timers", house.JSON{"business_type": kind, "business_id": "1", "delay": "1h", "callback": twice}),
	} {
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status)
		require.Equal(t, "/callback/headers/x-tenant", reply.Problem().Errors[0].Pointer)
	}
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL, "headers": house.JSON{"X-Tenant": "policy"}}})
	h.Add(house.JSON{"business_type": kind, "business_id": "2", "delay": "0s", "callback": house.JSON{"headers": house.JSON{"x-tenant": "timer"}}})
	require.Equal(t, []string{"timer"}, r.Await(t, "2", 1)[0].Header.Values("X-Tenant"))
}
