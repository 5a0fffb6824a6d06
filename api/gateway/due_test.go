package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
	"github.com/wakecall/wakecall/core/timer"
)

// A local due time is shown in both times, until somebody names a moment.
func TestALocalDueTime(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	body := gateway.JSON{"due_local": "2031-03-30T02:30", "timezone": "Europe/Berlin", "callback": gateway.JSON{"url": "http://127.0.0.1:29999/"}}
	path := "/v1/timers/" + kind + "/1"
	shown := func(reply gateway.Reply, status int) (view timer.View) {
		require.Equal(t, status, reply.Status, "%s", reply.Body)
		reply.Into(&view)
		return view
	}
	booked := shown(env.Do("PUT", path, body), 201)
	require.Equal(t, "2031-03-30T01:00:00.000Z 2031-03-30T02:30 Europe/Berlin", booked.DueAt.String()+" "+booked.DueLocal.String()+" "+booked.Timezone)
	moved := shown(env.Do("PATCH", path, gateway.JSON{"due_local": "2031-01-31T09:00", "timezone": "Asia/Tokyo"}), 200)
	require.Equal(t, "2031-01-31T00:00:00.000Z 2031-01-31T09:00 Asia/Tokyo", moved.DueAt.String()+" "+moved.DueLocal.String()+" "+moved.Timezone)
	require.Equal(t, moved.DueLocal, shown(env.Do("GET", path, nil), 200).DueLocal)
	require.Zero(t, shown(env.Do("PATCH", path, gateway.JSON{"delay": "48h"}), 200).DueLocal)
	body["business_type"], body["business_id"] = kind, "2"
	require.Equal(t, 201, env.Do("POST", "/v1/timers", body).Status)
	require.Equal(t, 200, env.Do("POST", "/v1/timers", body).Status, "it is the same timer")
}
