package timers

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// shown is what a get tells of where a timer calls, and why it failed.
type shown struct {
	Callback    testenv.JSON `json:"callback"`
	Retry       testenv.JSON `json:"retry"`
	LastFailure testenv.JSON `json:"last_failure"`
}

func shownBy(t *testing.T, env *testenv.Env, path string) (s shown) {
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
	env, kind := testenv.OpenWith(t, testenv.Addr, testenv.Settings()), sample.Type(t)
	ladder := testenv.JSON{"steps": []any{"10s", "1m", "10m", "1h", "6h"}, "jitter": 0.2}
	env.Add(sample.Booking(kind, "own", "1h", "https://own.example.com/x?y=1"))
	own := shownBy(t, env, kind+"/own")
	require.Equal(t, testenv.JSON{"url": "https://own.example.com/x?y=1", "timeout": "10s"}, own.Callback)
	require.Equal(t, ladder, own.Retry, "there is no policy: its defaults")

	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": "https://a.example.com/", "headers": testenv.JSON{"Authorization": "s3cret"}, "timeout": "5s"},
		"retry":    testenv.JSON{"steps": []string{"1s"}},
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "policy", "delay": "1h"})
	env.Add(testenv.JSON{
		"business_type": kind, "business_id": "both", "delay": "1h", "retry": testenv.JSON{"initial": "2s", "max_attempts": 3},
		"callback": testenv.JSON{"timeout": "7s", "headers": testenv.JSON{"X-Own": "s3cret"}},
	})
	require.Equal(t, testenv.JSON{"url": "https://a.example.com/", "timeout": "5s", "headers": map[string]any{"Authorization": "***"}},
		shownBy(t, env, kind+"/policy").Callback)
	both := shownBy(t, env, kind+"/both")
	require.Equal(t, testenv.JSON{
		"url": "https://a.example.com/", "timeout": "7s", "headers": map[string]any{"Authorization": "***", "X-Own": "***"},
	}, both.Callback)
	require.EqualValues(t, 3, both.Retry["max_attempts"])
	require.NotContains(t, shownBy(t, env, kind+"/own").Callback, "headers", "the policy's are for its own host")

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": "https://b.example.com/"}})
	require.Eventually(t, func() bool { return shownBy(t, env, kind+"/policy").Callback["url"] == "https://b.example.com/" },
		10*time.Second, 20*time.Millisecond, "the cache of policies is a moment old")

	list := env.Do("GET", "/v1/timers?business_type="+kind, nil)
	require.NotContains(t, string(list.Body), `"callback"`, "a list costs no look at each timer")
}

// A get tells why a timer failed: class, status and message.
func TestGetShowsWhyATimerFailed(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for id, c := range map[string]struct {
		url  string
		want testenv.JSON
	}{
		"answer": {r.On("/no", receiver.Status(http.StatusTeapot)), testenv.JSON{"class": "http", "status": 418.0, "message": "HTTP 418"}},
		"nobody": {"http://" + loopback.Addr() + "/", testenv.JSON{"class": "connect_failure", "message": "connect_failure"}},
		"name":   {"http://nobody.invalid/", testenv.JSON{"class": "dns_failure", "message": "dns_failure"}},
	} {
		body := sample.Booking(kind, id, "0s", c.url)
		body["retry"] = testenv.JSON{"steps": []string{}}
		env.Add(body)
		env.Await(kind+"/"+id, "failed")
		why := shownBy(t, env, kind+"/"+id)
		require.Equal(t, c.url, why.Callback["url"])
		require.NotEmpty(t, why.LastFailure["at"])
		delete(why.LastFailure, "at")
		require.Equal(t, c.want, why.LastFailure, id)
	}
}
