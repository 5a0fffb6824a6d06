package timers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
)

// Whatever the body, it is refused as a bad request, or is a booking that the
// rules of the core can judge.
func FuzzBooking(f *testing.F) {
	f.Add([]byte(`{"business_type":"order","business_id":"1","delay":"1h","payload":{"a":[1,null]},"callback":{"url":"https://bücher.example/"}}`))
	f.Add([]byte(`{"business_type":"order","business_id":"1","due_at":"2030-01-01T00:00:00Z","payload_base64":"AA==","content_type":"a/b"}`))
	f.Add([]byte(`{"retry":{"steps":["1s"],"jitter":1e400},"priority":-0,"latest_at":null}`))
	f.Add([]byte(`{"a":1,"\u0061":2}`))
	f.Add([]byte(strings.Repeat("[", 20_000)))
	f.Add([]byte("{\"\xff\":\"\\ud800\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := decode.Parse(body)
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		request, err := ReadBooking(members, delivery.Reach{})
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		if _, err := timer.Admit(request.Key, request.Terms, "booking", time.Now()); err != nil {
			apitest.RequireRefusal(t, err)
		}
	})
}

// Whatever stands in a path or a query is refused, or is a key that the core
// allows and that reads the same in the next path.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{
		"/v1/timers/order/1?wait=2s", "/v1/timers/order/a%40b", "/v1/timers/order/a%2540b", "/v1/timers/order/%00", "/v1/timers//",
		"/v1/timers/order/1?wait=-1ns", "/v1/timers/order/1?wait=1s&wait=1s", "/v1/timers/../order/1", "/v1/timers/order/1?%zz",
	} {
		f.Add(text)
	}
	e := echo.New()
	f.Fuzz(func(t *testing.T, text string) {
		request, err := http.NewRequest(http.MethodGet, "http://h"+text, nil) //nolint:noctx // never sent
		if err != nil {
			return // net/http answers these
		}
		c := e.NewContext(request, httptest.NewRecorder())
		target, err := targetOf(c)
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		require.Empty(t, target.Key.Check())
		require.GreaterOrEqual(t, target.Wait, time.Duration(0))
		require.LessOrEqual(t, target.Wait, kernel.MaxWait)
		answers.SetLocation(c, target.Key)
		next, err := http.NewRequest(http.MethodGet, "http://h"+c.Response().Header().Get("Location"), nil) //nolint:noctx // never sent
		require.NoError(t, err)
		again, err := requests.Key(e.NewContext(next, httptest.NewRecorder()))
		require.NoError(t, err)
		require.Equal(t, target.Key, again)
	})
}
