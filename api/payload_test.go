package api

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Payload is one of each kind, by the run.
func (telltale) Payload(_ context.Context, key wire.Key, _ string) (timer.Payload, error) {
	return map[string]timer.Payload{
		"json":   {Data: []byte(`{"a": 1.0,  "b":"<&>"}`), ContentType: timer.ContentTypeJSON},
		"binary": {Data: []byte{0xff, 0}, ContentType: "application/octet-stream"},
		"broken": {Data: []byte(`{"a"`), ContentType: timer.ContentTypeJSON},
		"none":   {},
	}[key.BusinessID], nil
}

// A payload is shown byte for byte, to who asks for it and has the right.
func TestAPayloadIsShown(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"json":   `,"content_type":"application/json","payload":{"a": 1.0,  "b":"<&>"}}`,
		"binary": `,"content_type":"application/octet-stream","payload_base64":"/wA="}`,
		"broken": `,"content_type":"application/json","payload_base64":"eyJhIg=="}`,
	} {
		path := "/v1/timers/order/" + id
		sees := toldTo(authOf(t, "shop", ":viewer+payloads:order"), http.MethodGet, path+"?payload=true", "")
		require.Equal(t, http.StatusOK, sees.Code, "%s", sees.Body)
		require.Contains(t, sees.Body.String(), want)
		require.NotContains(t, toldTo(authOf(t, "shop", ":viewer+payloads:order"), http.MethodGet, path, "").Body.String(), "content_type", "nobody asks for it")
		for _, seesNot := range []string{"viewer", "operator+no-payloads"} {
			answer := toldTo(authOf(t, "shop", ":"+seesNot+":order"), http.MethodGet, path+"?payload=true", "")
			require.Equal(t, http.StatusOK, answer.Code)
			require.NotContains(t, answer.Body.String(), "content_type")
			require.Equal(t, "left-out", answer.Header().Get("Wakecall-Payloads"), "it is said")
		}
	}
	require.NotContains(t, toldTo(authOf(t, "shop", ""), http.MethodGet, "/v1/timers/order/none?payload=true", "").Body.String(), "payload")
	require.Equal(t, http.StatusUnprocessableEntity, toldTo(authOf(t, "shop", ""), http.MethodGet, "/v1/timers/order/none?payload=1", "").Code)
}
