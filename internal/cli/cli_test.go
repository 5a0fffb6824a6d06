package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

var now = time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)

// fixed is a Wakecall with one answer, which notes what it is asked.
func fixed(t *testing.T, status int, answer any) (url string, asked *[]string) {
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func run(t *testing.T, colour bool, args ...string) (exit int, out, err string) {
	var printed, complaint bytes.Buffer
	exit = Run(t.Context(), args, Streams{Out: &printed, Err: &complaint, Colour: colour, Now: func() time.Time { return now }})
	return exit, printed.String(), complaint.String()
}

var view = timer.View{
	Key: timer.Key{BusinessType: "order-close", BusinessID: "4711"}, Status: timer.Scheduled, DueAt: timer.At(now.Add(3 * time.Hour)), CreatedAt: timer.At(now), Attempts: 2,
	LastFailure: &timer.Failure{Message: "HTTP 503"},
}

func TestWhatEachCommandAsks(t *testing.T) {
	for line, want := range map[string]string{
		"get order-close/4711":                                                        "GET /v1/timers/order-close/4711",
		"cancel order-close/4711":                                                     "DELETE /v1/timers/order-close/4711",
		"fire order-close/4711":                                                       "POST /v1/timers/order-close/4711/fire",
		"redeliver order-close/4711":                                                  "POST /v1/timers/order-close/4711/redeliver",
		"attempts order-close/4711":                                                   "GET /v1/timers/order-close/4711/attempts",
		"move order-close/4711 --delay 30m":                                           `PATCH /v1/timers/order-close/4711 {"delay":"30m"}`,
		"move order-close/4711 --at 2027-01-31T09:00:00Z":                             `PATCH /v1/timers/order-close/4711 {"due_at":"2027-01-31T09:00:00.000Z"}`,
		"add order-close/4711 --delay 1h --payload {} --url http://h/":                `POST /v1/timers {"business_type":"order-close","business_id":"4711","delay":"1h","payload":{},"callback":{"url":"http://h/"}}`,
		"add order-close/4711 --local 2027-01-31T09:00 --timezone Europe/Berlin":      `POST /v1/timers {"business_type":"order-close","business_id":"4711","due_local":"2027-01-31T09:00","timezone":"Europe/Berlin"}`,
		"list --type order-close --id 4711 --status failed --due-within 1h --limit 1": "GET /v1/timers?business_id=4711&business_type=order-close&due_to=2026-11-23T08%3A00%3A00.000Z&status=failed",
		"policies list":            "GET /v1/policies",
		"policies get order-close": "GET /v1/policies/order-close",
		"emergency":                "GET /v1/emergency",
		"emergency pause --everything --note fire":  `POST /v1/emergency/pause {"everything":true,"note":"fire"}`,
		"emergency resume order-close order-remind": `POST /v1/emergency/resume {"business_types":["order-close","order-remind"]}`,
	} {
		url, asked := fixed(t, 200, map[string]any{})
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, ExitDone, exit, "%s: %s", line, complaint)
		require.Equal(t, []string{want}, *asked, line)
	}
}

func TestTables(t *testing.T) {
	url, _ := fixed(t, 200, view)
	_, out, _ := run(t, false, "get", "order-close/4711", "--server", url)
	require.Regexp(t, `^STATUS     TIMER             DUE +ATTEMPTS  LAST FAILURE\nscheduled  order-close/4711  .* \(in 3h\)  2         HTTP 503\n$`, out)
	require.NotContains(t, out, "\x1b")
	_, coloured, _ := run(t, true, "get", "order-close/4711", "--server", url)
	require.Contains(t, coloured, blue+"scheduled"+reset)
	_, raw, _ := run(t, true, "get", "order-close/4711", "--server", url, "--json")
	var again timer.View
	require.NoError(t, json.Unmarshal([]byte(raw), &again))
	require.Equal(t, view.DueAt, again.DueAt)

	for name, c := range map[string]struct {
		args   []string
		answer any
		want   string
	}{
		"attempts": {[]string{"attempts", "a/1"}, map[string]any{"attempts": []timer.ShownAttempt{
			{Attempt: timer.Attempt{Number: 2, EndedAt: timer.At(now.Add(-time.Minute)), TookMS: 7, Status: 204, Result: timer.ResultDelivered, Worker: "w"}},
			{Attempt: timer.Attempt{Number: 1, Class: timer.Timeout, Result: timer.ResultRetry, RetryIn: timer.Duration(time.Minute)}},
		}}, `(?s)delivered  2 .*\(60s ago\)  7ms   204 .*retry      1        -  .*timeout  1m`},
		"policies":  {[]string{"policies", "list"}, map[string]any{"policies": []timer.Policy{{BusinessType: "a", Version: 3, Paused: true, Callback: timer.Callback{Destination: timer.HTTP("http://h/x?y")}}}}, `a     3        http://h/x  paused`},
		"emergency": {[]string{"emergency"}, map[string]any{"paused": []timer.Emergency{{Everything: true, Author: "ops", Note: "fire", Since: timer.At(now.Add(-72 * time.Hour))}, {BusinessType: "a", Since: timer.At(now)}}}, `everything  .*\(3d ago\)  ops  fire`},
	} {
		url, _ := fixed(t, 200, c.answer)
		exit, out, _ := run(t, false, append(c.args, "--server", url)...)
		require.Equal(t, ExitDone, exit)
		require.Regexp(t, c.want, out, name)
	}
	require.Equal(t, "5m", short(5*time.Minute))
}

func TestExitCodes(t *testing.T) {
	problem := func(slug string) map[string]any {
		return map[string]any{"type": "urn:wakecall:problem:" + slug, "detail": "no"}
	}
	for status, want := range map[int]int{404: ExitNotFound, 409: ExitRefused, 422: ExitRefused} {
		url, _ := fixed(t, status, problem("x"))
		exit, _, complaint := run(t, false, "get", "a/1", "--server", url)
		require.Equal(t, want, exit, status)
		require.Contains(t, complaint, "wakecall: x: no")
	}
	require.Equal(t, ExitUnavailable, exitOf(failure{io.ErrUnexpectedEOF}))
	for _, line := range []string{
		"get", "get a", "get a/b/c", "move a/1", "move a/1 --delay soon", "move a/1 --delay 1s --at 2027-01-31T09:00:00Z", "add a/1 --local 2027-01-31T09:00",
		"list --due-within soon", "list what", "nonsense", "emergency pause", "emergency pause a --everything", "policies apply", "get a/1 --what",
	} {
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", "http://127.0.0.1:1")...)
		require.Equal(t, ExitUsage, exit, "%s: %s", line, complaint)
		require.NotEmpty(t, complaint)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		exit, out, _ := run(t, false, "completion", shell)
		require.Equal(t, ExitDone, exit)
		require.Contains(t, out, "wakecall")
	}
	_, out, _ := run(t, false, "__complete", "list", "--status", "")
	require.Contains(t, out, "scheduled\n")
	require.True(t, Knows("add"))
	require.True(t, Knows("__complete"))
	require.False(t, Knows("serve"))
}
