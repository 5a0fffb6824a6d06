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
}
