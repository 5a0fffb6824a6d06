package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
)

// requireRefusal holds an error to what a bad request may be told.
func requireRefusal(t *testing.T, err error) {
	t.Helper()
	problem := problemOf(err)
	require.GreaterOrEqual(t, problem.Status, 400, "%v", err)
	require.Less(t, problem.Status, 500, "%v", err)
}

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
		members, err := parseObject(body)
		if err != nil {
			requireRefusal(t, err)
			return
		}
		request, err := readBooking(members, delivery.Reach{})
		if err != nil {
			requireRefusal(t, err)
			return
		}
		if _, err := timer.Admit(request.Key, request.Terms, "booking", time.Now()); err != nil {
			requireRefusal(t, err)
		}
	})
}

// A policy that is taken can be checked, and shows no header value.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"callback":{"url":"https://h/","headers":{"X":"secret"},"timeout":"1s"},"retry":{"steps":[]},"signing_secrets":["whsec_AA"]}`))
	f.Add([]byte(`{"callback":{"headers":{"a/b~c":"***"}},"version":1e9}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := parseObject(body)
		if err != nil {
			requireRefusal(t, err)
			return
		}
		change, err := readPolicy(members, "order", delivery.Reach{}, policy.Policy{})
		if err != nil {
			requireRefusal(t, err)
			return
		}
		for _, value := range mask(change.Policy).Callback.Headers {
			require.Equal(t, delivery.Hidden, value)
		}
	})
}

// A page token comes back as it was made, for its own filter only, and no other
// text is one.
func FuzzPageToken(f *testing.F) {
	f.Add([]byte("token"), "order", "AAAA")
	f.Add([]byte{}, "", "%25")
	f.Fuzz(func(t *testing.T, token []byte, businessType, forged string) {
		filter := timer.Filter{BusinessType: businessType}
		sealed := sealToken(token, filter)
		read := func(text string, filter timer.Filter) ([]byte, error) {
			q := &query{values: map[string][]string{"page_token": {text}}}
			return q.pageToken(filter), q.err()
		}
		got, err := read(sealed, filter)
		require.NoError(t, err)
		require.True(t, bytes.Equal(token, got))
		if len(token) > 0 {
			_, err = read(sealed, timer.Filter{BusinessType: businessType + "x"})
			requireRefusal(t, err)
		}
		if got, err := read(forged, filter); err == nil && forged != "" {
			require.Equal(t, forged, sealToken(got, filter), "nobody else makes tokens")
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
			requireRefusal(t, err)
			return
		}
		require.Empty(t, target.Key.Check())
		require.GreaterOrEqual(t, target.Wait, time.Duration(0))
		require.LessOrEqual(t, target.Wait, kernel.MaxWait)
		locate(c, target.Key)
		next, err := http.NewRequest(http.MethodGet, "http://h"+c.Response().Header().Get("Location"), nil) //nolint:noctx // never sent
		require.NoError(t, err)
		again, err := pathKey(e.NewContext(next, httptest.NewRecorder()))
		require.NoError(t, err)
		require.Equal(t, target.Key, again)
	})
}

func FuzzIfMatch(f *testing.F) {
	for _, header := range []string{"", "*", `"3"`, `W/"3"`, `"-1"`, `"99999999999999999999"`, `"3`, `3`, `"3-0a1b2c3d"`, `"1", "2"`} {
		f.Add(header)
	}
	e := echo.New()
	f.Fuzz(func(t *testing.T, header string) {
		request := httptest.NewRequest(http.MethodPut, "/", nil)
		request.Header.Set("If-Match", header)
		c := e.NewContext(request, httptest.NewRecorder())
		if version, mustExist, err := ifPolicy(c); err != nil {
			requireRefusal(t, err)
		} else {
			require.True(t, mustExist || version > 0, "a header that is there says something")
		}
		if tag, err := ifTimer(c); err != nil {
			requireRefusal(t, err)
		} else {
			require.NotEmpty(t, tag)
		}
	})
}
