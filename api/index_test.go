package api

import (
	"net/http"
	"path"
	"regexp"
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

var (
	asset    = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	foreign  = regexp.MustCompile(`(?i)(?:https?:)?//[a-z0-9]`)
	imported = regexp.MustCompile(`(?i)(?:@import|url\()\s*["']?([^"')]*)`)
)

// The document is served as it is, and its page loads nothing from elsewhere: it is readable
// without a network.
func TestTheDocumentIsReadOffline(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{})
	answer, document := f.get("/openapi.yaml")
	require.Equal(t, "application/yaml", answer.Header.Get("Content-Type"))
	require.Equal(t, string(OpenAPI), document)
	answer, html := f.get("/docs")
	require.Equal(t, "text/html", answer.Header.Get("Content-Type"))
	require.Contains(t, html, `"swaggerJsonUrl":"/openapi.yaml"`)
	require.Contains(t, html, "validatorUrl: null", "the document is not sent to a validator elsewhere")
	require.Empty(t, foreign.FindAllString(html, -1))

	kinds, seen := map[string]string{".css": "text/css", ".js": "javascript", ".png": "image/png"}, map[string]bool{}
	for _, found := range asset.FindAllStringSubmatch(html, -1) {
		require.Regexp(t, "^/docs/", found[1])
		answer, body := f.get(found[1])
		extension := path.Ext(found[1])
		require.Equal(t, http.StatusOK, answer.StatusCode, found[1])
		require.NotEmpty(t, body, found[1])
		require.Contains(t, answer.Header.Get("Content-Type"), kinds[extension], found[1])
		seen[extension] = true
		if extension == ".css" {
			for _, inner := range imported.FindAllStringSubmatch(body, -1) {
				require.Regexp(t, "^data:", inner[1], "a style sheet that needs nothing else")
			}
		}
	}
	require.Len(t, seen, len(kinds))
	answer, _ = f.get("/docs/nothing.js")
	require.Equal(t, http.StatusNotFound, answer.StatusCode, "the assets are what is found")
}
