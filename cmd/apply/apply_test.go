package apply

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
)

// wakecall is an API with configured answers, which records its requests.
type wakecall struct {
	mu       sync.Mutex
	answers  map[string]answer
	received []string
}

type answer struct {
	status int
	body   string
}

func (w *wakecall) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	call := r.Method + " " + r.URL.RequestURI()
	w.received = append(w.received, strings.Join([]string{
		call, r.Header.Get("Authorization"), r.Header.Get("If-Match") + r.Header.Get("If-None-Match"), r.Header.Get("Content-Type"), string(body),
	}, "|"))
	told, ok := w.answers[call]
	if !ok {
		told = answer{http.StatusNotFound, `{"detail":"There is no such resource."}`}
	}
	rw.WriteHeader(told.status)
	_, _ = io.WriteString(rw, told.body)
}

const three = `policies: [{business_type: a, paused: true}, {business_type: b}, {business_type: c}]`

// run applies a file of three policies to an API, as the command does.
func run(t *testing.T, answers map[string]answer, options Options) (out string, received []string, err error) {
	w := &wakecall{answers: answers}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	require.NoError(t, os.WriteFile(path, []byte(three), 0o600))
	options.File = path
	var text strings.Builder
	err = Run(t.Context(), client.New(client.Options{URL: server.URL + "/", Key: "key"}), options, &text)
	return text.String(), w.received, err
}

var threeAnswers = map[string]answer{
	"PUT /v1/policies/a?dry_run=true": {200, `{"created":false,"changes":[
		{"pointer":"/limits/callbacks_per_second","from":5,"to":10},{"pointer":"/expires_after","from":null,"to":"24h"},
		{"pointer":"/retry/steps","from":["1s"],"to":null}],"policy":{"version":4}}`},
	"PUT /v1/policies/b?dry_run=true": {200, `{"created":true,"changes":[{"pointer":"/callback/url","from":null,"to":"https://b"}],"policy":{"version":1}}`},
	"PUT /v1/policies/c?dry_run=true": {200, `{"created":false,"changes":[],"policy":{"version":7}}`},
	"PUT /v1/policies/a":              {200, `{}`},
	"PUT /v1/policies/b":              {201, `{}`},
}

const threeShown = `a: changed
  /limits/callbacks_per_second: 5 → 10
  /expires_after: none → 24h
  /retry/steps: ["1s"] → none
b: new
  /callback/url: none → https://b
c: unchanged
`

func TestApply(t *testing.T) {
	out, received, err := run(t, threeAnswers, Options{})
	require.NoError(t, err)
	require.Equal(t, threeShown+"2 of 3 policies applied\n", out)
	const sent = "|Bearer key|"
	require.Equal(t, []string{
		"PUT /v1/policies/a?dry_run=true" + sent + `|application/json|{"business_type":"a","paused":true}`,
		"PUT /v1/policies/b?dry_run=true" + sent + `|application/json|{"business_type":"b"}`,
		"PUT /v1/policies/c?dry_run=true" + sent + `|application/json|{"business_type":"c"}`,
		"PUT /v1/policies/a" + sent + `"3"|application/json|{"business_type":"a","paused":true}`,
		"PUT /v1/policies/b" + sent + `*|application/json|{"business_type":"b"}`,
	}, received, "what was changed since it was shown is not overwritten, and what is unchanged is left alone")
}

func TestDryRun(t *testing.T) {
	out, received, err := run(t, threeAnswers, Options{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, threeShown+"dry run: nothing was applied\n", out)
	require.Len(t, received, 3)
}

func TestEveryErrorOfEveryPolicy(t *testing.T) {
	out, received, err := run(t, map[string]answer{
		"PUT /v1/policies/a?dry_run=true": {422, `{"detail":"The request has invalid values.","errors":[
			{"pointer":"/callback/url","detail":"is required"},{"pointer":"/priority","detail":"must be from 1 to 5"}]}`},
		"PUT /v1/policies/b?dry_run=true": {200, `{"created":true,"changes":[],"policy":{"version":1}}`},
		"PUT /v1/policies/c?dry_run=true": {413, `{"detail":"The body is larger than this call allows."}`},
	}, Options{})
	require.EqualError(t, err, "a: /callback/url is required\na: /priority must be from 1 to 5\n"+
		"c: The body is larger than this call allows.\nnothing was applied")
	require.Empty(t, out)
	require.Len(t, received, 3)
}

func TestNobodyToAsk(t *testing.T) {
	for name, told := range map[string]answer{
		"Send a known API key": {401, `{"detail":"Send a known API key as Authorization: Bearer."}`},
		"answered 500":         {500, `<html>`},
		"answered 302":         {302, ``},
		"not from Wakecall":    {200, `<html>`},
	} {
		out, received, err := run(t, map[string]answer{"PUT /v1/policies/a?dry_run=true": told}, Options{})
		require.ErrorContains(t, err, name)
		require.Empty(t, out)
		require.Len(t, received, 1, "the others would fare no better")
	}
}

func TestChangedMeanwhile(t *testing.T) {
	answers := map[string]answer{}
	for call, told := range threeAnswers {
		answers[call] = told
	}
	answers["PUT /v1/policies/b"] = answer{412, `{"detail":"The policy exists already, and If-None-Match requires that it does not."}`}
	_, _, err := run(t, answers, Options{})
	require.EqualError(t, err, "b: The policy exists already, and If-None-Match requires that it does not.\n1 of 3 policies applied; apply the file again")
}

func TestNoFile(t *testing.T) {
	err := Run(t.Context(), nil, Options{File: filepath.Join(t.TempDir(), "none.yaml")}, io.Discard)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestPlansAsJSON(t *testing.T) {
	out, received, err := run(t, threeAnswers, Options{JSON: true, DryRun: true})
	require.NoError(t, err)
	var plans []client.Planned
	require.NoError(t, json.Unmarshal([]byte(out), &plans))
	require.Len(t, plans, 3)
	require.True(t, plans[1].Created)
	require.Len(t, received, 3)
}
