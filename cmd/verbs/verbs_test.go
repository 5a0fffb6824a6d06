package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

var now = time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)

// fixed is a Wakecall with one answer, which records its requests.
func fixed(t *testing.T, status int, answer any) (url string, asked *[]string) {
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		w.WriteHeader(status)
		if strings.HasSuffix(r.URL.Path, "/events") {
			_, _ = io.WriteString(w, "event: end\ndata: ")
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func run(t *testing.T, colour bool, args ...string) (exit int, out, err string) {
	var printed, complaint bytes.Buffer
	exit = program.Run(t.Context(), args, program.Streams{Out: &printed, Err: &complaint, Colour: colour, Now: func() time.Time { return now }}, tree)
	return exit, printed.String(), complaint.String()
}

// runWith runs a command and discards its output.
func runWith(ctx context.Context, args []string) (exit int, complaint string) {
	var said bytes.Buffer
	exit = program.Run(ctx, args, program.Streams{Out: io.Discard, Err: &said, Now: func() time.Time { return now }}, tree)
	return exit, said.String()
}

func tree(streams program.Streams) *cobra.Command {
	root := program.Group("wakecall", "An alarm clock for services")
	Add(root, streams)
	return root
}

var view = timer.View{
	Wait: delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsBy: "ana", WaitsNote: "fire"},
	Key:  wire.Key{BusinessType: "order-close", BusinessID: "4711"}, Status: timer.Scheduled, DueAt: wire.At(now.Add(3 * time.Hour)), CreatedAt: wire.At(now), Attempts: 2,
	LastFailure: &delivery.Failure{Message: "HTTP 503"},
}

func TestWhatEachCommandAsks(t *testing.T) {
	for line, want := range map[string]string{
		"get order-close/4711":                                                                  "GET /v1/timers/order-close/4711",
		"cancel order-close/4711":                                                               "DELETE /v1/timers/order-close/4711",
		"fire order-close/4711":                                                                 "POST /v1/timers/order-close/4711/fire",
		"redeliver order-close/4711":                                                            "POST /v1/timers/order-close/4711/redeliver",
		"attempts order-close/4711":                                                             "GET /v1/timers/order-close/4711/attempts",
		"move order-close/4711 --delay 30m":                                                     `PATCH /v1/timers/order-close/4711 {"delay":"30m"}`,
		"move order-close/4711 --at 2027-01-31T09:00:00Z":                                       `PATCH /v1/timers/order-close/4711 {"due_at":"2027-01-31T09:00:00.000Z"}`,
		`add order-close/4711 --delay 1h --payload {"a":"<b>"} --url http://h/`:                 `POST /v1/timers {"business_type":"order-close","business_id":"4711","delay":"1h","payload":{"a":"<b>"},"callback":{"url":"http://h/"}}`,
		"add order-close/4711 --local 2027-01-31T09:00 --timezone Europe/Berlin":                `POST /v1/timers {"business_type":"order-close","business_id":"4711","due_local":"2027-01-31T09:00","timezone":"Europe/Berlin"}`,
		"list --type order-close --id 4711 --status failed --due-within 1h --limit 1":           "GET /v1/timers?business_id=4711&business_type=order-close&due_to=2026-11-23T08%3A00%3A00.000Z&status=failed",
		"bulk fire --label customer=42 --label env=test --job a --yes --no-wait":                `POST /v1/bulk {"id":"a","operation":"fire","filter":{"labels":{"customer":"42","env":"test"}}}`,
		"bulk cancel --type order-close --status scheduled --job a --yes --no-wait":             `POST /v1/bulk {"id":"a","operation":"cancel","filter":{"business_type":"order-close","status":"scheduled"}}`,
		"bulk move --all --shift -30m --job a -y --rate 5 --no-wait":                            `POST /v1/bulk {"id":"a","operation":"move","filter":{},"shift":"-30m","per_second":5}`,
		`bulk edit --id 4711 --set {"priority":2} --job a -y --no-wait`:                         `POST /v1/bulk {"id":"a","operation":"edit","filter":{"business_id":"4711"},"edit":{"priority":2}}`,
		"bulk redeliver --type a --ended-from 2026-11-23T00:00:00Z --job a --dry-run --no-wait": `POST /v1/bulk {"id":"a","operation":"redeliver","filter":{"business_type":"a","ended_from":"2026-11-23T00:00:00.000Z"},"dry_run":true}`,
		"bulk fire --type a --due-within 1h --job a --yes --no-wait":                            `POST /v1/bulk {"id":"a","operation":"fire","filter":{"business_type":"a","due_to":"2026-11-23T08:00:00.000Z"}}`,
		"bulk get a":                                "GET /v1/bulk/a",
		"bulk stop a":                               "DELETE /v1/bulk/a",
		"bulk list --status done":                   "GET /v1/bulk?status=done",
		"bulk results a --json":                     "GET /v1/bulk/a/results",
		"policies list":                             "GET /v1/policies",
		"policies get order-close":                  "GET /v1/policies/order-close",
		"emergency":                                 "GET /v1/emergency",
		"emergency pause --everything --note fire":  `POST /v1/emergency/pause {"everything":true,"note":"fire"}`,
		"emergency resume order-close order-remind": `POST /v1/emergency/resume {"business_types":["order-close","order-remind"]}`,
		"list --label customer=42 --label env=test --sort -due": "GET /v1/timers?label=customer%3D42&label=env%3Dtest&sort=-due",
		"add a/1 --delay 1h --paused":                           `POST /v1/timers {"business_type":"a","business_id":"1","delay":"1h","paused":true}`,
		`put a/1 --rule {"every":"24h"} --paused`:               `PUT /v1/timers/a/1 {"recurrence":{"every":"24h","paused":true}}`,
		`edit a/1 --set {"paused":false}`:                       `PATCH /v1/timers/a/1 {"paused":false}`,
		"add a/1 --delay 1h --label customer=42":                `POST /v1/timers {"business_type":"a","business_id":"1","delay":"1h","labels":{"customer":"42"}}`,
		"list --recurring":                                      "GET /v1/timers?recurring=true",
		"list --run 0199b2c4-1d2e-7f30-8a41-5b6c7d8e9f01":       "GET /v1/timers?run_id=0199b2c4-1d2e-7f30-8a41-5b6c7d8e9f01",
		"list --webhook-id msg_2t5rq4nzk3xw7yh6jd7mbcvp5e":      "GET /v1/timers?webhook_id=msg_2t5rq4nzk3xw7yh6jd7mbcvp5e",
		"bulk cancel --recurring --job a --yes --no-wait":       `POST /v1/bulk {"id":"a","operation":"cancel","filter":{"recurring":true}}`,
		"stats":                            "GET /v1/stats",
		"stats --type a":                   "GET /v1/stats?business_type=a",
		"forecast a":                       "GET /v1/forecast?business_type=a",
		"forecast a --within 2h --step 5m": "GET /v1/forecast?business_type=a&step=5m&to=2026-11-23T09%3A00%3A00.000Z",
	} {
		url, asked := fixed(t, 200, map[string]any{})
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, program.ExitDone, exit, "%s: %s", line, complaint)
		require.Equal(t, []string{want}, *asked, line)
	}
}

func TestTables(t *testing.T) {
	url, _ := fixed(t, 200, view)
	_, out, _ := run(t, false, "get", "order-close/4711", "--server", url)
	require.Regexp(t, `^STATUS     TIMER             DUE +ATTEMPTS  LAST FAILURE  WAITS FOR\nscheduled  order-close/4711  .* \(in 3h\)  2         HTTP 503      emergency, by ana: fire\n$`, out)
	require.NotContains(t, out, "\x1b")
	_, coloured, _ := run(t, true, "get", "order-close/4711", "--server", url)
	require.Contains(t, coloured, blue+"scheduled"+reset)
	_, raw, _ := run(t, true, "get", "order-close/4711", "--server", url, "--json")
	var again timer.View
	require.NoError(t, json.Unmarshal([]byte(raw), &again))
	require.Equal(t, view.DueAt, again.DueAt)

	second := slo.Objective{OnTime: wire.Duration(time.Second)}
	for name, c := range map[string]struct {
		args   []string
		answer any
		want   string
	}{
		"attempts": {[]string{"attempts", "a/1"}, map[string]any{"attempts": []delivery.ShownAttempt{
			{Round: 2, Attempt: delivery.Attempt{Number: 2, EndedAt: wire.At(now.Add(-time.Minute)), TookMS: 7, Status: 204, Result: delivery.ResultDelivered, Worker: "w"}},
			{Round: 1, Attempt: delivery.Attempt{Number: 1, Class: delivery.Timeout, Result: delivery.ResultRetry, RetryIn: wire.Duration(time.Minute)}},
		}}, `(?s)delivered  2      2 .*\(60s ago\)  7ms   204 .*retry      1      1        -  .*timeout  1m`},
		"history": {[]string{"history", "a/1", "--limit", "6"}, map[string]any{"entries": []timer.HistoryEntry{
			{At: wire.At(now), Event: timer.HistoryExpired},
			{At: wire.At(now), Event: timer.HistoryBooked, Who: &wire.Actor{Name: "shop", Role: "operator", By: "key", From: "10.0.0.7"}, DueAt: 7, Revision: 1},
			{At: wire.At(now), Event: timer.HistoryPaused, Who: &wire.Actor{Name: "ops", By: "key", Job: "bulk:7"}, Reason: "closed", Changes: []timer.FieldChange{{Field: "payload"}, {Field: "delay", To: "1h"}}, Result: timer.HistoryApplied},
			{At: wire.At(now), Event: timer.HistoryCancelRequested, WhoUnknown: true, Identity: "tctl@desk"},
			{At: wire.At(now), Event: timer.HistoryHandedOut, Identity: "worker-1"},
			{At: wire.At(now), Event: timer.HistoryAttempt, Occurrence: 3, Attempt: &delivery.ShownAttempt{Round: 1, Attempt: delivery.Attempt{Number: 2, Result: delivery.ResultRetry, Status: 503, Class: delivery.Answered, TookMS: 9}}},
			{At: wire.At(now), Event: timer.HistoryFailed, LastFailure: &delivery.Failure{Message: "HTTP 503"}},
		}}, `(?s)^WHEN +WHAT +WHO +MORE\n[^\n]* booked +shop, operator, key, 10.0.0.7 +due 1970-01-01T00:00:00.007Z; revision 1\n[^\n]* paused +ops, key, bulk:7 +payload; delay 1h; applied; closed\n` +
			`[^\n]* cancel_requested +unknown \(tctl@desk\)[^\n]*\n[^\n]* handed_out +- +worker-1\n[^\n]* attempt +- +occurrence 3; round 1, number 2: retry, 503 \w+, 9ms\n[^\n]* failed +- +HTTP 503\n$`},
		"why": {[]string{"why", "a/1"}, map[string]any{"facts": []timer.Fact{
			{Fact: "emergency", Text: "Everything is paused.", Source: timer.FromEmergency, Since: wire.At(now.Add(-time.Minute)), By: "ana", Note: "fire"},
			{Fact: timer.ReasonNotDue, Text: "It waits.", Source: timer.FromTimer, Until: wire.At(now.Add(time.Hour))},
		}}, `(?s)^WHY +KNOWN FROM.*emergency  emergency .*\(60s ago\) +- +ana: fire +Everything is paused.\n.*not_due +timer +- .*\(in 60m\) +- +It waits.\n$`},
		"stats": {[]string{"stats"}, timer.Stats{
			CountedAt:     wire.At(now),
			Timers:        timer.StatusCounts{Scheduled: 12, Failed: 3},
			BusinessTypes: []timer.TypeStats{{BusinessType: "a", Timers: timer.StatusCounts{Scheduled: 7}}},
		}, `(?s)^TYPE   SCHEDULED .*a +7 +0.*\(all\) +12 +0 +0 +0 +3 `},
		"forecast": {[]string{"forecast", "a"}, forecast.Forecast{CountedAt: wire.At(now), Steps: []forecast.Step{
			{At: wire.At(now.Add(time.Hour)), Due: 900, Overflows: true, Lateness: wire.Duration(42 * time.Second)}, {At: wire.At(now.Add(2 * time.Hour))}, {At: wire.At(now.Add(3 * time.Hour)), DispatchItems: 5},
		}}, `^FROM .*LATE BY\n.*\(in 60m\)  900  0           42s\n.*\(in 3h\)   0    5           -\n$`},
		"slo": {[]string{"slo"}, client.Objectives{BusinessTypes: []slo.Report{
			{BusinessType: "a", From: wire.At(now), To: wire.At(now), Objective: second, Share: new(0.75), BudgetLeft: new(-249.0), P50MS: new(int64(3)), P99MS: new(int64(1204)), WorstMS: new(int64(1204)), Booked: 9, Bytes: 45, Rung: 7, OnTime: 6, Unsent: 1, Missed: 1, Delivered: 5, Failed: 2, Expired: 1, Attempts: 12, Open: new(int64(4))}, {BusinessType: "b", From: wire.At(now), To: wire.At(now), Objective: second},
		}}, `^TYPE +ON TIME +P50 .*RUNG  UNSENT  MISSED  FAILED  EXPIRED  ATTEMPTS  OPEN\na     75.000 %  3ms  1.204s  1.204s  -24900.000 %  9       45     7     1       1       2       1        12        4\nb     - .* -\n$`},
		"policies":  {[]string{"policies", "list"}, map[string]any{"policies": []policy.Policy{{BusinessType: "a", Version: 3, Paused: true, Callback: delivery.Callback{Destination: delivery.HTTP("http://h/x?y")}}}}, `a     3        http://h/x  paused`},
		"emergency": {[]string{"emergency"}, map[string]any{"paused": []policy.Emergency{{Everything: true, Author: "ops", Note: "fire", Since: wire.At(now.Add(-72 * time.Hour))}, {BusinessType: "a", Since: wire.At(now)}}}, `everything  .*\(3d ago\)  ops  fire`},
	} {
		url, _ := fixed(t, 200, c.answer)
		exit, out, complaint := run(t, false, append(c.args, "--server", url)...)
		require.Equal(t, program.ExitDone, exit, "%s: %s", name, complaint)
		require.Regexp(t, c.want, out, name)
	}
	require.Equal(t, "5m", short(5*time.Minute))
}

func TestExitCodes(t *testing.T) {
	problem := func(slug string) map[string]any {
		return map[string]any{"type": "urn:wakecall:problem:" + slug, "detail": "no"}
	}
	for status, want := range map[int]int{404: program.ExitNotFound, 409: program.ExitRefused, 422: program.ExitRefused} {
		url, _ := fixed(t, status, problem("x"))
		exit, _, complaint := run(t, false, "get", "a/1", "--server", url)
		require.Equal(t, want, exit, status)
		require.Contains(t, complaint, "wakecall: x: no")
	}
	for _, line := range []string{
		"get", "get a", "get a/b/c", "move a/1", "move a/1 --delay soon", "move a/1 --delay 1s --at 2027-01-31T09:00:00Z", "add a/1 --local 2027-01-31T09:00",
		"list --due-within soon", "list what", "nonsense", "emergency pause", "emergency pause a --everything", "bulk what", "policies what", "bulk cancel --yes", "bulk cancel --type a", "bulk cancel --all --type a --yes", "bulk move --type a --yes", "bulk move --type a --shift soon --yes", "bulk edit --type a --set {\"prio\":1} --yes", "bulk fire --type a --due-from soon --yes", "bulk get", "dispatch", "dispatch a", "dispatch get a", "dispatch rate a/1 fast", "dispatch start a/1", "dispatch upload a/1 nowhere.ndjson", "batch nowhere", "preview", "put a/1", "edit a/1", "cancel a/1 --wait soon", "policies put a {paused}", "bulk redeliver --yes", "ack", "upcoming a", "add a/1 --delay 1h --payload {", "add a/1 --delay 1h --payload @nowhere", "add a/1 --delay 1h --set {\"nonsense\":1}", "add a/1 --delay 1h --timezone Europe/Berlin", "--json listen --type a", "listen --type a --forward 127.0.0.1:3000", "server metrics --json", "server --json metrics", "policies apply", "get a/1 --what",
	} {
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", "http://127.0.0.1:1")...)
		require.Equal(t, program.ExitUsage, exit, "%s: %s", line, complaint)
		require.NotEmpty(t, complaint)
	}
}

// An empty flag is refused: without it a command could find more than intended.
func TestAFlagThatSaysNothing(t *testing.T) {
	for line, flag := range map[string]string{
		"bulk cancel --type a --due-within 0s --yes":  "--due-within must be above 0",
		"bulk cancel --type a --due-within -1h --yes": "--due-within must be above 0",
		"bulk cancel --type a --due-to= --yes":        "--due-to must not be empty",
		"bulk cancel --type a --due-from= --yes":      "--due-from must not be empty",
		"bulk cancel --type a --status= --yes":        "--status must not be empty",
		"bulk cancel --type= --status scheduled -y":   "--type must not be empty",
		"bulk cancel --type a --id= --yes":            "--id must not be empty",
		"bulk cancel --type a --label= --yes":         "--label",
		"bulk cancel --type a --job= --yes":           "--job must not be empty",
		"bulk cancel --type a --rate 0 --yes":         "--rate must be above 0",
		"bulk redeliver --type a --ended-to= --yes":   "--ended-to must not be empty",
		"bulk redeliver --type a --ended-from= --yes": "--ended-from must not be empty",
		"bulk edit --type a --set= --yes":             "--set must not be empty",
		"bulk move --type a --shift= --yes":           "--shift must not be empty",
		"bulk list --status=":                         "--status must not be empty",
		"bulk results a --result=":                    "--result must not be empty",
		"list --due-within 0s":                        "--due-within must be above 0",
		"list --due-within -5m":                       "--due-within must be above 0",
		"list --type= --id=":                          "--id must not be empty\nwakecall: --type must not be empty",
		"list --limit -1":                             "--limit must not be negative",
		"stats --type=":                               "--type must not be empty",
		"forecast a --within 0s":                      "--within must be above 0",
		"forecast a --within -1h":                     "--within must be above 0",
		"forecast a --step 0s":                        "--step must be above 0",
		"slo --target 0":                              "--target must be above 0",
		"slo --window 0s":                             "--window must be above 0",
		"outcomes --within 0s":                        "--within must be above 0",
		"outcomes --step 0s":                          "--step must be above 0",
		"audit --limit 0":                             "--limit must be above 0",
		"audit --type= ":                              "--type must not be empty",
		"preview 0_9_*_*_* --count 0":                 "--count must be above 0",
		"upcoming a/1 --count -1":                     "--count must be above 0",
		"add a/1 --delay 1h --url=":                   "--url must not be empty",
		"get a/1 --key=":                              "--key must not be empty",
		"keys new shop --role operator --types=":      "--types must not be empty",
		"bulk cancel --type a --rate NaN --yes":       "--rate must be a finite number",
		"slo --target +Inf":                           "--target must be a finite number",
		"dispatch start a/1 --rate NaN --upload -":    "--rate must be a finite number",
	} {
		url, asked := fixed(t, 200, map[string]any{"status": "done"})
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, program.ExitUsage, exit, "%s: %s", line, complaint)
		require.Contains(t, complaint, flag, line)
		require.Empty(t, *asked, line)
	}
}

// An empty business type is not all of them.
func TestAnEmptyType(t *testing.T) {
	for _, command := range []string{"slo", "outcomes"} {
		url, asked := fixed(t, 200, map[string]any{})
		exit, _, complaint := run(t, false, command, "", "--server", url)
		require.Equal(t, program.ExitUsage, exit)
		require.Contains(t, complaint, "TYPE must not be empty")
		require.Empty(t, *asked)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		exit, out, _ := run(t, false, "completion", shell)
		require.Equal(t, program.ExitDone, exit)
		require.Contains(t, out, "wakecall")
	}
	_, out, _ := run(t, false, "__complete", "list", "--status", "")
	require.Contains(t, out, "scheduled\n")
}

// The examples name a delivery as the API does.
func TestExampleOfADelivery(t *testing.T) {
	t.Parallel()
	require.True(t, timer.IsMessageID(exampleDelivery))
}

// Every command on the page is valid.
func TestPageOfTheCommandLine(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"policies.yaml": "policies: [{business_type: order-close}]", "items.ndjson": `{"id": "u-1"}`,
		"bookings.ndjson": `{"business_type": "a", "business_id": "1", "delay": "1h"}`,
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	understood := 0
	for line := range strings.Lines(string(page)) {
		command, ok := strings.CutPrefix(line, "    wakecall ")
		if !ok || strings.HasPrefix(command, "listen") { // does not end
			continue
		}
		words, err := exec.CommandContext(t.Context(), "bash", "-c", "printf '%s\\n' "+command).Output()
		require.NoError(t, err)
		url, asked := fixed(t, 200, map[string]any{"status": "done"})
		exit, _, complaint := run(t, false, append(strings.Split(strings.TrimSpace(string(words)), "\n"), "--server", url)...)
		require.Equal(t, program.ExitDone, exit, "%s: %s", command, complaint)
		require.Equal(t, !strings.HasPrefix(command, "keys new"), len(*asked) > 0, command) // makes no call
		understood++
	}
	require.Greater(t, understood, 10)
}

// jobs is a Wakecall with one bulk job, which is done at the third request.
func jobs(t *testing.T, ended client.BulkJob) (url string, asked *[]string) {
	asked = new([]string)
	gets := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
		job := client.BulkJob{ID: ended.ID, Operation: ended.Operation, Status: job.Running, Tally: job.Tally{Found: ended.Found, Done: 1}, StartedAt: ended.StartedAt}
		if r.Method == http.MethodPost {
			gets = 0
			w.WriteHeader(http.StatusAccepted)
		} else if gets++; gets > 1 {
			job = ended
		}
		_ = json.NewEncoder(w).Encode(job)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// On a terminal, a bulk job is counted and confirmed before it acts, and a bar shows its
// progress.
func TestBulkIsAskedFor(t *testing.T) {
	four := 4
	done := client.BulkJob{ID: "a", Operation: job.Cancel, Status: job.Done, Tally: job.Tally{Found: &four, Done: 3, Skipped: 1}, StartedAt: wire.At(now)}
	part := done
	part.Done, part.Failed = 2, 1
	for name, c := range map[string]struct {
		answer string
		job    client.BulkJob
		asks   bool
		exit   int
		posts  int
	}{
		"yes":                {"y\n", done, true, program.ExitDone, 2},
		"no":                 {"\n", done, true, program.ExitFailure, 1},
		"nothing is said":    {"", done, true, program.ExitFailure, 1},
		"done in part":       {"yes\n", part, true, program.ExitFailure, 2},
		"nobody to be asked": {"y\n", done, false, program.ExitUsage, 0},
	} {
		url, asked := jobs(t, c.job)
		var printed, said bytes.Buffer
		exit := program.Run(t.Context(), []string{"bulk", "cancel", "--type", "order-close", "--server", url}, program.Streams{
			Out: &printed, Err: &said, Live: true, Asks: c.asks, In: strings.NewReader(c.answer), Now: func() time.Time { return now },
		}, tree)
		require.Equal(t, c.exit, exit, "%s: %s", name, said.String())
		posts := 0
		for _, one := range *asked {
			if strings.HasPrefix(one, "POST ") {
				posts++
				require.Equal(t, posts == 1, strings.Contains(one, `"dry_run":true`), one)
				require.Equal(t, posts == 2, strings.Contains(one, `"counted":"a"`), "what was counted is what is changed: %s", one)
			}
		}
		require.Equal(t, c.posts, posts, name)
		if c.asks {
			require.Contains(t, said.String(), "Cancel 4 timers? [y/N] ")
			require.Contains(t, said.String(), "[##########..............................]  25 %  1 of 4")
		}
		if c.exit == program.ExitDone {
			require.Regexp(t, `(?s)STATUS +JOB +OPERATION +FOUND +DONE +SKIPPED.*done +a +cancel +4 +3 +1 +0`, printed.String())
		}
	}
}

// An interrupted question means no, even if nothing more can be read.
func TestTheQuestionIsInterrupted(t *testing.T) {
	four := 4
	url, asked := jobs(t, client.BulkJob{ID: "a", Operation: job.Cancel, Status: job.Done, Tally: job.Tally{Found: &four}, StartedAt: wire.At(now)})
	ctx, interrupt := context.WithCancel(t.Context())
	terminal, hangUp := io.Pipe()
	defer func() { _ = hangUp.Close() }()
	var said bytes.Buffer
	exit := program.Run(ctx, []string{"bulk", "cancel", "--type", "order-close", "--server", url}, program.Streams{
		Out: io.Discard, Err: &said, Asks: true, In: onRead{terminal, interrupt}, Now: func() time.Time { return now },
	}, tree)
	require.Equal(t, program.ExitInterrupted, exit)
	require.Contains(t, said.String(), "Cancel 4 timers? [y/N] \nNothing was done.\nwakecall: interrupted\n")
	require.Equal(t, 1, strings.Count(strings.Join(*asked, "\n"), "POST"), "only what counts")
}

// onRead calls do when it is read.
type onRead struct {
	io.Reader
	do func()
}

func (r onRead) Read(p []byte) (int, error) {
	r.do()
	return r.Reader.Read(p)
}

func TestBulkResults(t *testing.T) {
	line := job.Line{Key: wire.Key{BusinessType: "a", BusinessID: "1"}, Outcome: job.Outcome{Result: job.ResultSkipped, Code: wire.AlreadyFinished, Status: timer.Delivered}}
	url, _ := fixed(t, 200, line)
	_, out, _ := run(t, false, "bulk", "results", "a", "--server", url)
	require.Equal(t, "skipped  a/1  already-finished delivered\n", out)
	_, out, _ = run(t, true, "bulk", "results", "a", "--server", url)
	require.Contains(t, out, yellow+"skipped"+reset)
	_, out, _ = run(t, false, "bulk", "results", "a", "--result", "failed", "--server", url)
	require.Empty(t, out)
	_, out, _ = run(t, false, "bulk", "results", "a", "--json", "--server", url)
	require.JSONEq(t, `{"business_type":"a","business_id":"1","result":"skipped","code":"already-finished","timer_status":"delivered"}`, out)
	exit, _, _ := run(t, false, "bulk", "results", "a", "--server", "http://127.0.0.1:1")
	require.Equal(t, program.ExitUnavailable, exit)
}

func TestTheBar(t *testing.T) {
	at := now
	s := &shell{Streams: program.Streams{Err: io.Discard, Live: true, Now: func() time.Time { return at }}}
	b, ten, none := s.newBar(), 10, 0
	require.Equal(t, "running  0", b.line("running", 0, nil))
	require.Equal(t, "running  0", b.line("running", 0, &none))
	at = now.Add(10 * time.Second)
	require.Equal(t, "["+strings.Repeat("#", 20)+strings.Repeat(".", 20)+"]  50 %  5 of 10  10s left", b.line("running", 5, &ten))
	require.Equal(t, "["+strings.Repeat("#", 40)+"] 100 %  10 of 10", b.line("running", 10, &ten))
}
