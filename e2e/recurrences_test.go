package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/testenv"
)

const previewPath = "/v1/recurrences/preview"

// preview lists what a rule would ring.
func preview(t *testing.T, env *testenv.Env, body string) (times []string) {
	t.Helper()
	reply := env.Do("POST", previewPath, body)
	require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
	var answer struct {
		Upcoming []string `json:"upcoming"`
	}
	reply.Into(&answer)
	return answer.Upcoming
}

// A preview needs neither a policy nor a worker, and books nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	env := testenv.OpenWith(t, temporalAddr, testenv.Settings())
	require.Equal(t, []string{"2027-03-27T01:30:00.000Z", "2027-03-28T01:00:00.000Z", "2027-03-29T00:30:00.000Z"},
		preview(t, env, `{"recurrence":{"cron":"30 2 * * *","timezone":"Europe/Berlin"},"from":"2027-03-27T00:00:00+01:00","count":3}`))
	require.Equal(t, []string{"2027-01-01T00:02:00.000Z", "2027-01-01T00:17:00.000Z"},
		preview(t, env, `{"recurrence":{"every":"15m","offset":"2m"},"from":"2027-01-01T00:00:00Z","count":2}`))
	require.Equal(t, []string{"2027-12-24T09:00:00.000Z", "2027-12-27T09:00:00.000Z"},
		preview(t, env, `{"recurrence":{"cron":"0 9 * * MON-FRI","exclude":["2027-12-25"],"max_occurrences":2},"from":"2027-12-24T00:00:00Z"}`))
	require.Len(t, preview(t, env, `{"recurrence":{"cron":"* * * * * *","seconds":true},"count":1000}`), 1000)
	require.Len(t, preview(t, env, `{"recurrence":{"cron":"0 0 29 2 1"},"count":1000}`), 1000)

	listed := preview(t, env, `{"recurrence":{"after":"1h"}}`)
	require.Len(t, listed, 20)
	first, err := time.Parse(time.RFC3339, listed[0])
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(time.Hour), first, time.Minute, "from now, unless it is said")
}

func TestPreviewRefusals(t *testing.T) {
	t.Parallel()
	env := testenv.OpenWith(t, temporalAddr, testenv.Settings())
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
		reply := env.Do("POST", previewPath, c.body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s: %s", c.body, reply.Body)
		var got []string
		for _, fieldErr := range reply.Problem().Errors {
			got = append(got, fieldErr.Pointer+" "+fieldErr.Code)
		}
		require.Equal(t, c.want, strings.Join(got, " "), c.body)
		require.NotContains(t, string(reply.Body), "strconv")
	}
	require.Equal(t, http.StatusBadRequest, env.Do("POST", previewPath, `{"recurrence":{"every":"1h","every":"2h"}}`).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("POST", previewPath+"?count=5", `{"recurrence":{"every":"1h"}}`).Status)
	require.Equal(t, http.StatusMethodNotAllowed, env.Do("GET", previewPath, nil).Status)
}
