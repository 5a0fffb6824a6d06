package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
)

// payloads are one of each kind, by the id of their timer.
var payloads = map[string]timer.Payload{
	"json":   {Data: []byte(`{"a": 1.0,  "b":"<&>"}`), ContentType: timer.ContentTypeJSON},
	"binary": {Data: []byte{0xff, 0}, ContentType: "application/octet-stream"},
	"broken": {Data: []byte(`{"a"`), ContentType: timer.ContentTypeJSON},
	"none":   {},
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
	none := toldTo(authOf(t, "shop", ""), http.MethodGet, "/v1/timers/order/none?payload=true", "").Body.String()
	require.NotContains(t, strings.ReplaceAll(none, `"payload_bytes":0`, ""), "payload")
	require.Equal(t, http.StatusUnprocessableEntity, toldTo(authOf(t, "shop", ""), http.MethodGet, "/v1/timers/order/none?payload=1", "").Code)
}

// The size of a payload is shown to all who see its timer. Its digest takes the right to see payloads: a short one is
// found by guesses.
func TestTheSizeAndDigestOfAPayload(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		size   int
		digest string
	}{
		"json":   {22, "6d9de424d27f4c5ed7ffd46a86b5910f4b03b5735f5e2a18302feebceb467577"},
		"binary": {2, "ea5dbf9596d187e9500f23e9a680109475341cf4e81f7e043f7d97152c10772f"},
		"broken": {4, "de9ce9008704dd0aa575b07196e92a96935fdcef06f97988cf5e2eb7a9b26b62"},
		"none":   {},
	} {
		for _, query := range []string{"", "?payload=true"} {
			for rights, sees := range map[string]bool{":viewer+payloads:order": true, ":viewer:order": false, ":operator+no-payloads:order": false} {
				var shown struct {
					Size   *int   `json:"payload_bytes"`
					Digest string `json:"payload_sha256"`
				}
				answer := toldTo(authOf(t, "shop", rights), http.MethodGet, "/v1/timers/order/"+id+query, "")
				require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &shown))
				require.NotNil(t, shown.Size, id+rights)
				require.Equal(t, want.size, *shown.Size, id+rights)
				if !sees {
					require.NotContains(t, answer.Body.String(), "payload_sha256", id+rights)
					continue
				}
				require.Equal(t, want.digest, shown.Digest, id)
			}
		}
	}
}
