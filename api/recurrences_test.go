package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/internal/auth"
)

const previewPath = "/v1/recurrences/preview"

// preview lists what a rule would ring.
func preview(t *testing.T, body string) (times []string) {
	t.Helper()
	status, text := bulkDoor(&bulkJobs{}, auth.Anyone())("POST", previewPath, body)
	require.Equal(t, http.StatusOK, status, text)
	var answer struct {
		Upcoming []string `json:"upcoming"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	return answer.Upcoming
}

// A preview needs neither a policy nor a worker, and books nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"2027-03-27T01:30:00.000Z", "2027-03-28T01:00:00.000Z", "2027-03-29T00:30:00.000Z"},
		preview(t, `{"recurrence":{"cron":"30 2 * * *","timezone":"Europe/Berlin"},"from":"2027-03-27T00:00:00+01:00","count":3}`))
	require.Equal(t, []string{"2027-01-01T00:02:00.000Z", "2027-01-01T00:17:00.000Z"},
		preview(t, `{"recurrence":{"every":"15m","offset":"2m"},"from":"2027-01-01T00:00:00Z","count":2}`))
	require.Equal(t, []string{"2027-12-24T09:00:00.000Z", "2027-12-27T09:00:00.000Z"},
		preview(t, `{"recurrence":{"cron":"0 9 * * MON-FRI","exclude":["2027-12-25"],"max_occurrences":2},"from":"2027-12-24T00:00:00Z"}`))
	require.Len(t, preview(t, `{"recurrence":{"cron":"* * * * * *","seconds":true},"count":1000}`), 1000)
	require.Len(t, preview(t, `{"recurrence":{"cron":"0 0 29 2 1"},"count":1000}`), 1000)

	listed := preview(t, `{"recurrence":{"after":"1h"}}`)
	require.Len(t, listed, 20)
	first, err := time.Parse(time.RFC3339, listed[0])
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(time.Hour), first, time.Minute, "from now, unless it is said")
}

func TestPreviewRefusals(t *testing.T) {
	t.Parallel()
	ask := bulkDoor(&bulkJobs{}, auth.Anyone())
	for _, c := range []struct {
		body string
		want string // pointers and codes
	}{
		{`{}`, "/recurrence required"},
		{`{"recurrence":null}`, "/recurrence invalid-type"},
		{`{"recurrence":"daily"}`, "/recurrence invalid-type"},
		{`{"recurrence":{"every":"1h"},"count":0,"to":1}`, "/to unknown-field /count out-of-range"},
		{`{"recurrence":{"every":"1h"},"count":1001,"from":"soon"}`, "/from invalid-time /count out-of-range"},
		{`{"recurrence":{"every":"1h"},"count":"5"}`, "/count invalid-type"},
		{`{"recurrence":{}}`, "/recurrence/cron required"},
		{`{"recurrence":{"cron":5}}`, "/recurrence/cron invalid-type"},
		{`{"recurrence":{"cron":"0 0 * * *","every":"1h"}}`, "/recurrence/every conflict"},
		{`{"recurrence":{"cron":"0 0 * *"}}`, "/recurrence/cron invalid-recurrence"},
		{`{"recurrence":{"cron":"0 0 0 * * 1"}}`, "/recurrence/cron invalid-recurrence"},
		{`{"recurrence":{"cron":"0 0 0 * * 1","dialect":"quartz"}}`, "/recurrence/cron invalid-recurrence"},
		{`{"recurrence":{"cron":"0 0 0 ? * 1","dialect":"kron"}}`, "/recurrence/dialect invalid-recurrence"},
		{`{"recurrence":{"cron":"TZ=UTC"}}`, "/recurrence/cron invalid-recurrence"},
		{`{"recurrence":{"cron":"@every 1s"}}`, "/recurrence/cron invalid-recurrence"},
		{`{"recurrence":{"cron":"0 0 30 2 *"}}`, "/recurrence/cron invalid-recurrence"},
		{`{"recurrence":{"crons":[]}}`, "/recurrence/crons required"},
		{`{"recurrence":{"crons":"0 0 * * *"}}`, "/recurrence/crons invalid-type"},
		{`{"recurrence":{"crons":["0 0 * * *",1,"x"]}}`, "/recurrence/crons/1 invalid-type /recurrence/crons/2 invalid-recurrence"},
		{`{"recurrence":{"crons":[` + strings.Repeat(`"0 0 * * *",`, 10) + `"0 0 * * *"]}}`, "/recurrence/crons too-large"},
		{`{"recurrence":{"every":"hourly"}}`, "/recurrence/every invalid-duration"},
		{`{"recurrence":{"every":"500ms"}}`, "/recurrence/every out-of-range"},
		{`{"recurrence":{"every":"1h","offset":"1h"}}`, "/recurrence/offset out-of-range"},
		{`{"recurrence":{"after":"1h","offset":"1m"}}`, "/recurrence/offset conflict"},
		{`{"recurrence":{"every":"1h","seconds":true}}`, "/recurrence/seconds conflict"},
		{`{"recurrence":{"every":"1h","timezone":"CET+1"}}`, "/recurrence/timezone invalid-recurrence"},
		{`{"recurrence":{"every":"1h","initial_delay":"1h","start_at":"2030-01-01T00:00:00Z"}}`, "/recurrence/initial_delay conflict"},
		{`{"recurrence":{"every":"1h","start_at":"2400-01-01T00:00:00Z"}}`, "/recurrence/start_at out-of-range"},
		{`{"recurrence":{"every":"1h","end_at":"2001-01-01T00:00:00Z"}}`, "/recurrence/end_at out-of-range"},
		{`{"recurrence":{"every":"48h","end_at":"2027-01-01T12:00:00Z"},"from":"2027-01-01T00:00:00Z"}`, "/recurrence/end_at out-of-range"},
		{`{"recurrence":{"every":"1h","max_occurrences":0}}`, "/recurrence/max_occurrences out-of-range"},
		{`{"recurrence":{"every":"1h","jitter":"1h"}}`, "/recurrence/jitter out-of-range"},
		{`{"recurrence":{"every":"1h","exclude":["2027-02-30"]}}`, "/recurrence/exclude/0 invalid-recurrence"},
		{`{"recurrence":{"every":"1h","exclude":["* * * * *"]}}`, "/recurrence/exclude invalid-recurrence"},
		{`{"recurrence":{"every":"1h","exclude":[` + strings.Repeat(`"2027-12-25",`, 100) + `"2027-12-25"]}}`, "/recurrence/exclude too-large"},
		{`{"recurrence":{"every":"1h","missed":"some"}}`, "/recurrence/missed invalid-recurrence"},
		{`{"recurrence":{"after":"1h","missed":"fire_all"}}`, "/recurrence/missed conflict"},
		{`{"recurrence":{"every":"1h","on_failure":"stop"}}`, "/recurrence/on_failure invalid-recurrence"},
		{`{"recurrence":{"cron":"x","zone":"UTC","jitter":7,"on_failure":"y"},"count":-1}`,
			"/recurrence/jitter invalid-duration /recurrence/zone unknown-field /recurrence/cron invalid-recurrence " +
				"/recurrence/on_failure invalid-recurrence /count out-of-range"},
	} {
		status, answer := ask("POST", previewPath, c.body)
		require.Equal(t, http.StatusUnprocessableEntity, status, "%s: %s", c.body, answer)
		var refused problem.Document
		require.NoError(t, json.Unmarshal([]byte(answer), &refused))
		var got []string
		for _, fieldErr := range refused.Errors {
			got = append(got, fieldErr.Pointer+" "+string(fieldErr.Code))
		}
		require.Equal(t, c.want, strings.Join(got, " "), c.body)
		require.NotContains(t, answer, "strconv")
	}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", previewPath, `{"recurrence":{"every":"1h","every":"2h"}}`, http.StatusBadRequest},
		{"POST", previewPath + "?count=5", `{"recurrence":{"every":"1h"}}`, http.StatusUnprocessableEntity},
		{"GET", previewPath, "", http.StatusMethodNotAllowed},
	} {
		status, answer := ask(c.method, c.path, c.body)
		require.Equal(t, c.want, status, answer)
	}
}
