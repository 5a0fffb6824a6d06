package timers

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// What a timer sends is shown byte for byte, as it was booked, changed and delivered.
func TestThePayloadOfATimer(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	const first, second = `{"n": 1.0,  "html":"<&>"}`, `[ 1e2 ]`
	path := "/v1/timers/" + kind + "/1"
	book := `{"business_type":"` + kind + `","business_id":"1","delay":"1h","payload":` + first + `,"callback":{"url":"` + r.URL + `"}}`
	require.Equal(t, http.StatusCreated, env.Do("POST", "/v1/timers", book).Status)
	require.Contains(t, string(env.Do("GET", path+"?payload=true", nil).Body), `,"content_type":"application/json","payload":`+first+`}`)
	require.NotContains(t, string(env.Do("GET", path, nil).Body), "content_type", "nobody asks for it")
	require.Equal(t, http.StatusOK, env.Do("PATCH", path, `{"payload":`+second+`}`).Status)
	key := wire.Key{BusinessType: kind, BusinessID: "1"}
	shown, err := env.Wakecall().Timers.Payload(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, timer.Payload{Data: []byte(second), ContentType: "application/json"}, shown)
	require.Equal(t, http.StatusOK, env.Do("POST", path+"/fire", nil).Status)
	require.Equal(t, second, string(r.Await(t, "1", 1)[0].Body))
	env.Await(kind+"/1", "delivered")
	shown, err = env.Wakecall().Timers.Payload(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, second, string(shown.Data), "when it has ended, too")

	_, _, err = env.Wakecall().Timers.Add(t.Context(), client.Booking{Key: wire.Key{BusinessType: kind, BusinessID: "2"}, Terms: client.Terms{
		Delay: client.After(recurrence.MinInterval), Bytes: []byte{0, 0xff}, ContentType: "application/octet-stream", Callback: &delivery.Callback{Destination: delivery.HTTP(r.URL)},
	}})
	require.NoError(t, err)
	shown, err = env.Wakecall().Timers.Payload(t.Context(), wire.Key{BusinessType: kind, BusinessID: "2"})
	require.NoError(t, err)
	require.True(t, shown.Base64 && bytes.Equal(shown.Data, []byte{0, 0xff}))
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/none?payload=true", nil).Status)
}
