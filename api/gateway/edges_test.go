package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

// Thousands of invented methods, paths and business types leave a handful of series.
func TestInventedNamesLeaveFewSeries(t *testing.T) {
	t.Parallel()
	env, _ := gateway.Open(t)
	addr := env.Serve()
	series := func() int { return strings.Count(string(env.Do("GET", "/metrics", nil).Body), "\nwakecall_") }
	env.Do("GET", "/v1/timers", nil)
	before := series()
	const invented = 3000
	conn := dial(t, addr)
	go func() {
		for n := range invented {
			_, _ = fmt.Fprintf(conn, "M%d /v1/timers/t%d/x HTTP/1.1\r\nHost: localhost\r\n\r\n", n, n)
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
	require.Less(t, grown, 100, "some for a method of any other name, whatever it is")
}
