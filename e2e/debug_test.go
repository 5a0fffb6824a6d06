package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// shown is what a get tells of where a timer calls, and why it failed.
type shown struct {
	Callback    house.JSON `json:"callback"`
	Retry       house.JSON `json:"retry"`
	LastFailure house.JSON `json:"last_failure"`
}

func shownBy(t *testing.T, h *house.House, path string) (s shown) {
	t.Helper()
	reply := h.Do("GET", "/v1/timers/"+path, nil)
	require.Equal(t, http.StatusOK, reply.Status)
	require.NoError(t, json.Unmarshal(reply.Body, &s))
	return s
}

// A get tells where a timer calls: by its own terms, and under the policy as it
// is now.
func TestGetShowsWhereATimerCalls(t *testing.T) {
	t.Parallel()
	h, kind := house.OpenWith(t, temporalAddr, house.Settings()), typeOf(t)
	ladder := house.JSON{"steps": []any{"10s", "1m", "10m", "1h", "6h"}, "jitter": 0.2}
	h.Add(booking(kind, "own", "1h", "https://own.example.com/x?y=1"))
	own := shownBy(t, h, kind+"/own")
	require.Equal(t, house.JSON{"url": "https://own.example.com/x?y=1", "timeout": "10s"}, own.Callback)
	require.Equal(t, ladder, own.Retry, "there is no policy: its defaults")

	h.Policy(kind, house.JSON{
		"callback": house.JSON{"url": "https://a.example.com/", "headers": house.JSON{"Authorization": "s3cret"}, "timeout": "5s"},
		"retry":    house.JSON{"steps": []string{"1s"}},
	})
	h.Add(house.JSON{"business_type": kind, "business_id": "policy", "delay": "1h"})
	h.Add(house.JSON{
		"business_type": kind, "business_id": "both", "delay": "1h", "retry": house.JSON{"initial": "2s", "max_attempts": 3},
		"callback": house.JSON{"timeout": "7s", "headers": house.JSON{"X-Own": "s3cret"}},
	})
	require.Equal(t, house.JSON{"url": "https://a.example.com/", "timeout": "5s", "headers": map[string]any{"Authorization": "***"}},
		shownBy(t, h, kind+"/policy").Callback)
	both := shownBy(t, h, kind+"/both")
	require.Equal(t, house.JSON{
		"url": "https://a.example.com/", "timeout": "7s", "headers": map[string]any{"Authorization": "***", "X-Own": "***"},
	}, both.Callback)
	require.EqualValues(t, 3, both.Retry["max_attempts"])
	require.NotContains(t, shownBy(t, h, kind+"/own").Callback, "headers", "the policy's are for its own host")

	h.Policy(kind, house.JSON{"callback": house.JSON{"url": "https://b.example.com/"}})
	require.Eventually(t, func() bool { return shownBy(t, h, kind+"/policy").Callback["url"] == "https://b.example.com/" },
		10*time.Second, 20*time.Millisecond, "the cache of policies is a moment old")

	list := h.Do("GET", "/v1/timers?business_type="+kind, nil)
	require.NotContains(t, string(list.Body), `"callback"`, "a list costs no look at each timer")
}

// A get tells why a timer failed: class, status and message.
func TestGetShowsWhyATimerFailed(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	for id, c := range map[string]struct {
		url  string
		want house.JSON
	}{
		"answer": {r.On("/no", receiver.Status(http.StatusTeapot)), house.JSON{"class": "http", "status": 418.0, "message": "HTTP 418"}},
		"nobody": {"http://" + house.Addr() + "/", house.JSON{"class": "connect_failure", "message": "connect_failure"}},
		"name":   {"http://nobody.invalid/", house.JSON{"class": "dns_failure", "message": "dns_failure"}},
	} {
		body := booking(kind, id, "0s", c.url)
		body["retry"] = house.JSON{"steps": []string{}}
		h.Add(body)
		h.Await(kind+"/"+id, "failed")
		why := shownBy(t, h, kind+"/"+id)
		require.Equal(t, c.url, why.Callback["url"])
		require.NotEmpty(t, why.LastFailure["at"])
		delete(why.LastFailure, "at")
		require.Equal(t, c.want, why.LastFailure, id)
	}
}
