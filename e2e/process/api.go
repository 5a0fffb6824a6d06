package process

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/contract"
)

// API is the API of a process.
type API struct {
	T   testing.TB
	URL string
	// Key is sent as a bearer token, if there is one.
	Key string
}

// Client is the Go client of the API. It makes each call once, and checks it against the
// OpenAPI document.
func (a API) Client() *client.Client {
	return client.New(client.Options{URL: a.URL, Key: a.Key, HTTP: contract.Calls(a.T), Tries: 1})
}

// Try makes a call that may find no listener. It checks an answer against the OpenAPI document.
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
	response, err := contract.Calls(a.T).Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, err
	}
	return response.StatusCode, answer, nil
}

// change is the path of a timer, or of an operation on it.
var change = regexp.MustCompile(`^/v1/timers/[^/?]+/[^/?]+(/fire|/pause|/resume)?(\?.*)?$`)

// Patiently makes a change wait longer for its effect than the API does by default, unless
// the test sets the wait: a slow answer on a busy machine must not decide the test.
func Patiently(method, path string) string {
	if Changes(method, path) && !strings.Contains(path, "?") {
		return path + "?wait=30s"
	}
	return path
}

// Changes reports whether a call changes a timer. It may be repeated unchanged.
func Changes(method, path string) bool {
	return method != http.MethodGet && change.MatchString(path)
}

// repeated makes a call until Temporal answers in time, as clients do. again reports whether it was made more
// than once: the first one may have taken effect.
func (a API) repeated(method, path string, body any) (status int, answer []byte, again bool) {
	a.T.Helper()
	for until := time.Now().Add(Patience); ; again = true {
		var err error
		status, answer, err = a.Try(method, path, body)
		require.NoError(a.T, err)
		if status != http.StatusServiceUnavailable || time.Now().After(until) {
			return status, answer, again
		}
	}
}

// Do makes a call and expects one of the given statuses. It waits for the effect of a change, and repeats
// one that Temporal did not answer in time.
func (a API) Do(method, path string, body any, want ...int) (timer contract.Timer) {
	a.T.Helper()
	var status int
	var answer []byte
	var err error
	if Changes(method, path) {
		status, answer, _ = a.repeated(method, Patiently(method, path), body)
	} else {
		status, answer, err = a.Try(method, path, body)
	}
	require.NoError(a.T, err)
	require.Contains(a.T, want, status, "%s %s: %s", method, path, answer)
	require.NoError(a.T, json.Unmarshal(answer, &timer), "%s", answer)
	return timer
}

// Add books a timer and expects it to be new.
func (a API) Add(timer contract.JSON) (booked contract.Timer) {
	a.T.Helper()
	status, answer, again := a.repeated("POST", "/v1/timers", timer)
	if !again || status != http.StatusOK { // else the first call had taken effect
		require.Equal(a.T, http.StatusCreated, status, "%s", answer)
	}
	require.NoError(a.T, json.Unmarshal(answer, &booked), "%s", answer)
	return booked
}

// Get shows a timer.
func (a API) Get(path string) contract.Timer {
	a.T.Helper()
	return a.Do("GET", "/v1/timers/"+path, nil, http.StatusOK)
}

// Policy puts a policy.
func (a API) Policy(businessType string, policy contract.JSON) {
	a.T.Helper()
	_, err := a.Client().Policies.Put(a.T.Context(), businessType, policy, 0)
	require.NoError(a.T, err)
}

// Await returns the timer once it has the status.
func (a API) Await(path, status string) (timer contract.Timer) {
	a.T.Helper()
	require.EventuallyWithT(a.T, func(c *assert.CollectT) {
		timer = a.Get(path)
		require.Equal(c, status, timer.Status)
	}, endWithin, Interval, "%s should become %s", path, status)
	return timer
}

// List returns the status of every timer in the list of a business type, by id.
func (a API) List(businessType string) map[string]string {
	a.T.Helper()
	found := map[string]string{}
	for timer, err := range a.Client().Timers.List(a.T.Context(), client.Filter{BusinessType: businessType}) {
		require.NoError(a.T, err)
		found[timer.BusinessID] = string(timer.Status)
	}
	return found
}

// AwaitList waits until the list of a business type holds exactly the given
// timers.
func (a API) AwaitList(businessType string, want map[string]string) {
	a.T.Helper()
	require.EventuallyWithT(a.T, func(c *assert.CollectT) {
		require.Equal(c, want, a.List(businessType))
	}, endWithin, Interval, "the list lags behind by a moment")
}
