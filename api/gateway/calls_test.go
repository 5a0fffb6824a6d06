package gateway_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

// shown is what a get tells of where a timer calls, and why it failed.
type shown struct {
	Callback    gateway.JSON `json:"callback"`
	Retry       gateway.JSON `json:"retry"`
	LastFailure gateway.JSON `json:"last_failure"`
}

func shownBy(t *testing.T, env *gateway.Gateway, path string) (s shown) {
	t.Helper()
	reply := env.Do("GET", "/v1/timers/"+path, nil)
	require.Equal(t, http.StatusOK, reply.Status)
	require.NoError(t, json.Unmarshal(reply.Body, &s))
	return s
}

// A get tells where a timer calls: by its own terms, and under the policy as it
// is now.
func TestGetShowsWhereATimerCalls(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	ladder := gateway.JSON{"steps": []any{"10s", "1m", "10m", "1h", "6h"}, "jitter": 0.2}
	env.Add(gateway.JSON{"business_type": kind, "business_id": "own", "delay": "1h", "callback": gateway.JSON{"url": "https://own.example.com/x?y=1"}})
	own := shownBy(t, env, kind+"/own")
	require.Equal(t, gateway.JSON{"url": "https://own.example.com/x?y=1", "timeout": "10s"}, own.Callback)
	require.Equal(t, ladder, own.Retry, "there is no policy: its defaults")

	env.Policy(kind, gateway.JSON{
		"callback": gateway.JSON{"url": "https://a.example.com/", "headers": gateway.JSON{"Authorization": "s3cret"}, "timeout": "5s"},
		"retry":    gateway.JSON{"steps": []string{"1s"}},
	})
	env.Add(gateway.JSON{"business_type": kind, "business_id": "policy", "delay": "1h"})
	env.Add(gateway.JSON{
		"business_type": kind, "business_id": "both", "delay": "1h", "retry": gateway.JSON{"initial": "2s", "max_attempts": 3},
		"callback": gateway.JSON{"timeout": "7s", "headers": gateway.JSON{"X-Own": "s3cret"}},
	})
	require.Equal(t, gateway.JSON{"url": "https://a.example.com/", "timeout": "5s", "headers": map[string]any{"Authorization": "***"}},
		shownBy(t, env, kind+"/policy").Callback)
	both := shownBy(t, env, kind+"/both")
	require.Equal(t, gateway.JSON{
		"url": "https://a.example.com/", "timeout": "7s", "headers": map[string]any{"Authorization": "***", "X-Own": "***"},
	}, both.Callback)
	require.EqualValues(t, 3, both.Retry["max_attempts"])
	require.NotContains(t, shownBy(t, env, kind+"/own").Callback, "headers", "the policy's are for its own host")

	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": "https://b.example.com/"}})
	require.Eventually(t, func() bool { return shownBy(t, env, kind+"/policy").Callback["url"] == "https://b.example.com/" },
		time.Minute, 20*time.Millisecond, "the cache of policies is a moment old")

	list := env.Do("GET", "/v1/timers?business_type="+kind, nil)
	require.NotContains(t, string(list.Body), `"callback"`, "a list costs no look at each timer")
}
