package gateway_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

func TestRecurringBadInput(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}, "min_interval": "1m"})
	every := gateway.JSON{"every": "1h"}
	for name, c := range map[string]struct {
		body    gateway.JSON
		pointer string
	}{
		"two times":     {gateway.JSON{"recurrence": every, "delay": "1s"}, "/recurrence"},
		"latest time":   {gateway.JSON{"recurrence": every, "latest_at": "2999-01-01T00:00:00Z"}, "/latest_at"},
		"two kinds":     {gateway.JSON{"recurrence": gateway.JSON{"every": "1h", "cron": "* * * * *"}}, "/recurrence"},
		"never":         {gateway.JSON{"recurrence": gateway.JSON{"cron": "0 0 30 2 *"}}, "/recurrence/cron"},
		"unknown zone":  {gateway.JSON{"recurrence": gateway.JSON{"cron": "0 0 * * *", "timezone": "Mars/Base"}}, "/recurrence/timezone"},
		"too often":     {gateway.JSON{"recurrence": gateway.JSON{"every": "30s"}}, "/recurrence"},
		"unknown field": {gateway.JSON{"recurrence": gateway.JSON{"every": "1h", "often": true}}, "/recurrence/often"},
		"null":          {gateway.JSON{"recurrence": nil}, "/recurrence"},
		"jitter":        {gateway.JSON{"recurrence": gateway.JSON{"every": "1h", "jitter": "2h"}}, "/recurrence/jitter"},
	} {
		c.body["business_type"], c.body["business_id"] = kind, "1"
		reply := env.Do("POST", "/v1/timers", c.body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s: %s", name, reply.Body)
		var pointers []string
		for _, fieldErr := range reply.Problem().Errors {
			pointers = append(pointers, fieldErr.Pointer)
		}
		require.Condition(t, func() bool {
			return slices.ContainsFunc(pointers, func(p string) bool { return len(p) >= len(c.pointer) && p[:len(c.pointer)] == c.pointer })
		}, "%s: %v", name, pointers)
	}
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/1", nil).Status, "nothing was started")
}
