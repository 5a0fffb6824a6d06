package deliveries

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A type whose callback is down goes over to its second link, under the same id, and
// comes back by itself. GET says which link delivered.
func TestSecondLink(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	first := "/" + kind + "/first"
	r.On(first, receiver.Status(http.StatusServiceUnavailable))
	key := sample.Secret()
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + first, "headers": testenv.JSON{"Authorization": "first"}}, "signing_secrets": []string{key},
		"fallback": testenv.JSON{"url": r.URL + "/" + kind + "/second", "after": "1s", "headers": testenv.JSON{"X-Second": "yes"}},
		"retry":    testenv.JSON{"steps": []string{"1h"}},
	})
	shown := string(env.Do("GET", "/v1/policies/"+kind, nil).Body)
	require.Contains(t, shown, `"headers":{"X-Second":"***"},"timeout":"10s","after":"1s"`)

	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	delivered := env.Await(kind+"/1", "delivered")
	require.Equal(t, "fallback", delivered.Link)
	second := r.To("/" + kind + "/second")[0]
	require.Equal(t, delivered.WebhookID, second.Header.Get("webhook-id"))
	require.Equal(t, r.To(first)[0].Header.Get("webhook-id"), second.Header.Get("webhook-id"))
	require.NotEmpty(t, second.Header.Get("webhook-signature"))
	require.Equal(t, []string{"yes", ""}, []string{second.Header.Get("X-Second"), second.Header.Get("Authorization")})

	r.On(first, receiver.Status(http.StatusOK))
	for booked, link := 2, "fallback"; link != "callback"; booked++ {
		id := strconv.Itoa(booked)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "200ms"})
		link = env.Await(kind+"/"+id, "delivered").Link // one of them finds out that it works again
		require.Less(t, booked, 100)
	}

	// A receiver that is there and refuses keeps its timer for the whole ladder.
	r.On("/"+kind+"/refuses", receiver.Status(http.StatusBadRequest))
	env.Policy(kind+".refused", testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + "/" + kind + "/refuses"}, "retry": testenv.JSON{"steps": []string{"50ms"}},
		"fallback": testenv.JSON{"url": r.URL + "/" + kind + "/second", "after": "1h"},
	})
	env.Add(testenv.JSON{"business_type": kind + ".refused", "business_id": "1", "delay": "0s"})
	refused := env.Await(kind+".refused/1", "delivered")
	require.Equal(t, "fallback", refused.Link)
	require.Equal(t, 3, refused.Attempts)
	require.Len(t, r.To("/"+kind+"/refuses"), 2)
	var record struct {
		Attempts []struct{ Link string }
	}
	env.Do("GET", "/v1/timers/"+kind+".refused/1/attempts", nil).Into(&record)
	links := []string{}
	for _, attempt := range record.Attempts { // the latest first
		links = append(links, attempt.Link)
	}
	require.Equal(t, []string{"fallback", "callback", "callback"}, links)

	for body, pointer := range map[string]string{
		`{"callback":{"url":"https://h/a"},"fallback":{"url":"https://H:443/a"}}`:                   "/fallback/url",
		`{"callback":{"url":"https://h/a"},"fallback":{}}`:                                          "/fallback/url",
		`{"callback":{"url":"https://h/a"},"fallback":{"broker":"nobody"}}`:                         "/fallback/broker",
		`{"callback":{"url":"https://h/a"},"fallback":{"url":"https://h/b","after":"0s"}}`:          "/fallback/after",
		`{"callback":{"url":"https://h/a"},"fallback":{"url":"https://h/b","fallback":{}}}`:         "/fallback/fallback",
		`{"fallback":{"url":"https://h/b"}}`:                                                        "/fallback",
		`{"callback":{"url":"https://h/a"},"fallback":{"url":"https://h/b","headers":{"A":"***"}}}`: "/fallback/headers/A",
	} {
		reply := env.Do("PUT", "/v1/policies/"+kind+".bad", body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s: %s", body, reply.Body)
		require.Len(t, reply.Problem().Errors, 1, "%s", reply.Body)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer)
	}
}
