package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
)

// Whoever asks for no call is told where one is. Who shows no key learns nothing that helps
// to attack, and who shows a wrong one is refused.
func TestTheIndexTellsWhereOneIs(t *testing.T) {
	t.Parallel()
	links := `"links":{"api":"/v1","openapi":"/openapi.yaml","docs":"/docs","live":"/livez","ready":"/readyz"}`
	for _, path := range []string{"/", "/v1"} {
		guarded := openFront(t, Options{Front: front.Options{Auth: authOf(t, "shop", ":viewer:a")}, Operations: operations.Options{Version: "1.2.3"}})
		answer, body := guarded.get(path)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.JSONEq(t, `{"name":"Wakecall",`+links+`}`, body)
		require.NotContains(t, body, "1.2.3")
		_, body = guarded.get(path, "Authorization: Bearer secret")
		require.JSONEq(t, `{"name":"Wakecall","version":"1.2.3",`+links+`}`, body)
		answer, body = guarded.get(path, "Authorization: Bearer guessed")
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
		require.NotContains(t, body, "1.2.3")
		answer, _ = guarded.get(path + "?what=this")
		require.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode)

		open := openFront(t, Options{Operations: operations.Options{Version: "1.2.3"}})
		_, body = open.get(path)
		require.Contains(t, body, `"version":"1.2.3"`, "on loopback everybody is let in")
	}
}

// Each link of the index leads somewhere.
func TestTheLinksOfTheIndex(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{})
	for _, path := range []string{"/openapi.yaml", "/docs", "/livez", "/readyz"} {
		answer, _ := f.get(path)
		require.Equal(t, http.StatusOK, answer.StatusCode, path)
	}
}
