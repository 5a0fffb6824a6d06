package operations

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A type that is paused is called by nobody, whatever its policy says meanwhile, and
// others are. Everything is paused by TestBookingNeedsNoWorker, which has a Temporal of
// its own.
func TestAPausedType(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	emergency := client.New(client.Options{URL: env.URL, HTTP: contract.Calls(t)}).Emergency
	order := client.EmergencyOrder{BusinessTypes: []string{kind, kind + "-2"}, Note: "wrong prices"}
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(sample.Booking(kind, "before", "1ms", r.URL))
	env.Await(kind+"/before", "delivered")

	paused, err := emergency.Pause(t.Context(), order)
	require.NoError(t, err)
	require.Len(t, paused, 2)
	require.Equal(t, "wrong prices", paused[0].Note)
	again, err := emergency.Pause(t.Context(), client.EmergencyOrder{BusinessTypes: []string{kind}, Note: "another"})
	require.NoError(t, err)
	require.Equal(t, paused[:1], again)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		listed, err := emergency.List(t.Context())
		assert.NoError(c, err)
		assert.Contains(c, listed, paused[0])
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "priority": 1}) // sets the rate of its queue
	env.Add(sample.Booking(kind, "held", "3s", r.URL))
	env.Add(sample.Booking(kind+"-3", "other", "3s", r.URL))
	env.Await(kind+"/held", "delivering")
	env.Await(kind+"-3/other", "delivered")
	require.Empty(t, r.Calls("held"))
	testenv.AwaitListed(t, fmt.Sprintf("BusinessType=%q", kind), kind+"/held") // and not the emergency

	env.Policy(kind+"-4", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "paused": true})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		left, err := emergency.Resume(t.Context(), client.EmergencyOrder{BusinessTypes: []string{kind + "-4"}})
		assert.NoError(c, err)
		assert.Len(c, left.Paused, 1)
		assert.Equal(c, []any{kind + "-4", true}, []any{left.Paused[0].BusinessType, left.Paused[0].ByPolicy}, "its policy holds it all the same")
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	left, err := emergency.Resume(t.Context(), order)
	require.NoError(t, err)
	require.Empty(t, left.Paused)
	env.Await(kind+"/held", "delivered")
	require.Len(t, r.Calls("held"), 1)

	for body, pointer := range map[string]string{
		`{}`: "/business_types", `{"everything":false}`: "/business_types", `{"business_types":["A"]}`: "/business_types/0",
		`{"everything":true,"note":7}`: "/note", `{"everything":true,"why":"x"}`: "/why",
	} {
		refused := env.Do("POST", "/v1/emergency/pause", body)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status, body)
		require.Equal(t, pointer, refused.Problem().Errors[0].Pointer, body)
	}
}
