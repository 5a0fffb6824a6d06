package process

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
)

// API is the API of a process.
type API struct {
	T   testing.TB
	URL string
	// Key is sent as a bearer token, if there is one.
	Key string
}

// client outwaits every answer.
var client = &http.Client{Timeout: time.Minute}

// Try makes a call that may find nobody listening. An answer is held to the
// OpenAPI document.
func (a API) Try(method, path string, body any) (status int, answer []byte, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	if body == nil {
		raw = nil
	}
	request, err := http.NewRequestWithContext(a.T.Context(), method, a.URL+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if a.Key != "" {
		request.Header.Set("Authorization", "Bearer "+a.Key)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, err
	}
	contract.Hold(a.T, contract.Exchange{Request: request, Status: response.StatusCode, Header: response.Header, Body: answer})
	return response.StatusCode, answer, nil
}

// Do makes a call and expects one of the given statuses.
func (a API) Do(method, path string, body any, want ...int) (timer contract.Timer) {
	a.T.Helper()
	status, answer, err := a.Try(method, path, body)
	require.NoError(a.T, err)
	require.Contains(a.T, want, status, "%s %s: %s", method, path, answer)
	require.NoError(a.T, json.Unmarshal(answer, &timer), "%s", answer)
	return timer
}

// Add books a timer and expects it to be new.
func (a API) Add(timer contract.JSON) contract.Timer {
	a.T.Helper()
	return a.Do("POST", "/v1/timers", timer, http.StatusCreated)
}

// Get shows a timer.
func (a API) Get(path string) contract.Timer {
	a.T.Helper()
	return a.Do("GET", "/v1/timers/"+path, nil, http.StatusOK)
}

// Policy puts a policy.
func (a API) Policy(businessType string, policy contract.JSON) {
	a.T.Helper()
	a.Do("PUT", "/v1/policies/"+businessType, policy, http.StatusOK, http.StatusCreated)
}

// Await returns the timer once it has the status.
func (a API) Await(path, status string) (timer contract.Timer) {
	a.T.Helper()
	require.EventuallyWithT(a.T, func(c *assert.CollectT) {
		timer = a.Get(path)
		require.Equal(c, status, timer.Status)
	}, endWithin, pollEvery, "%s should become %s", path, status)
	return timer
}

// List returns the status of every timer of a business type, by its id, as it
// stands in the list.
func (a API) List(businessType string) map[string]string {
	a.T.Helper()
	found, token := map[string]string{}, ""
	for {
		query := url.Values{"business_type": {businessType}, "page_token": {token}}
		status, answer, err := a.Try("GET", "/v1/timers?"+query.Encode(), nil)
		require.NoError(a.T, err)
		require.Equal(a.T, http.StatusOK, status, "%s", answer)
		var page struct {
			Timers []contract.Timer `json:"timers"`
			Next   string           `json:"next_page_token"`
		}
		require.NoError(a.T, json.Unmarshal(answer, &page))
		for _, timer := range page.Timers {
			found[timer.BusinessID] = timer.Status
		}
		if token = page.Next; token == "" {
			return found
		}
	}
}

// AwaitList waits until the list of a business type holds exactly the given
// timers.
func (a API) AwaitList(businessType string, want map[string]string) {
	a.T.Helper()
	require.EventuallyWithT(a.T, func(c *assert.CollectT) {
		require.Equal(c, want, a.List(businessType))
	}, endWithin, pollEvery, "the list lags behind by a moment")
}
