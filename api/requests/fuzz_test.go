package requests

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/core/timer"
)

// A page token comes back as it was made, for its own filter only, and no other
// text is one.
func FuzzPageToken(f *testing.F) {
	f.Add([]byte("token"), "order", "AAAA")
	f.Add([]byte{}, "", "%25")
	f.Fuzz(func(t *testing.T, token []byte, businessType, forged string) {
		filter := timer.Filter{BusinessType: businessType}
		sealed := SealToken(token, filter)
		read := func(text string, filter timer.Filter) ([]byte, error) {
			q := &Query{Values: map[string][]string{"page_token": {text}}}
			return q.PageToken(filter), q.Err()
		}
		got, err := read(sealed, filter)
		require.NoError(t, err)
		require.True(t, bytes.Equal(token, got))
		if len(token) > 0 {
			_, err = read(sealed, timer.Filter{BusinessType: businessType + "x"})
			apitest.RequireRefusal(t, err)
		}
		if got, err := read(forged, filter); err == nil && forged != "" {
			require.Equal(t, forged, SealToken(got, filter), "nobody else makes tokens")
		}
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
		if version, mustExist, err := IfMatchPolicy(c); err != nil {
			apitest.RequireRefusal(t, err)
		} else {
			require.True(t, mustExist || version > 0, "a header that is there says something")
		}
		if tag, err := IfMatchTimer(c); err != nil {
			apitest.RequireRefusal(t, err)
		} else {
			require.NotEmpty(t, tag)
		}
	})
}
