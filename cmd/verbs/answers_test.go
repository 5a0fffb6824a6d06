package verbs

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/cmd/program"
)

// Every command prints an empty list as a list.
func TestNothingAsJSON(t *testing.T) {
	for _, line := range []string{
		"list", "attempts a/1", "history a/1", "why a/1", "occurrences a/1", "policies list", "policies versions a", "emergency",
		"bulk list", "dispatch list", "keys list",
	} {
		url, _ := fixed(t, 200, map[string]any{})
		exit, out, complaint := run(t, false, append(strings.Fields(line), "--json", "--server", url)...)
		require.Equal(t, program.ExitDone, exit, complaint)
		require.Equal(t, "[]\n", out, line)
		exit, out, _ = run(t, false, append([]string{"--json", "--server", url}, strings.Fields(line)...)...)
		require.Equal(t, program.ExitDone, exit)
		require.Equal(t, "[]\n", out, "the flags may stand in front")
	}
}

// Partial success differs from success.
func TestDoneInPart(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("bookings", []byte(`{"business_type": "a", "business_id": "1", "delay": "1h"}`+"\n"+`{"business_type": "a", "business_id": "2", "delay": "1h"}`), 0o600))
	results := map[string]any{"results": []any{
		map[string]any{"status": 201, "timer": map[string]any{"business_type": "a", "business_id": "1", "status": "scheduled"}},
		map[string]any{"status": 409, "problem": map[string]any{"type": "urn:wakecall:problem:already-exists", "detail": "It is there.", "status": 409}},
	}}
	for line, c := range map[string]struct {
		answer any
		says   string
	}{
		"batch bookings":      {results, "wakecall: 1 of 2 timers were refused\n"},
		"dispatch follow a/1": {map[string]any{"business_type": "a", "business_id": "1", "status": "done", "failed": 3}, "wakecall: 3 items failed: see wakecall dispatch failures a/1\n"},
		"dispatch follow a/3": {map[string]any{"business_type": "a", "business_id": "3", "status": "done_with_failures", "failed": 1}, "wakecall: 1 items failed: see wakecall dispatch failures a/3\n"},
		"dispatch get a/4":    {map[string]any{"business_type": "a", "business_id": "4", "status": "done_with_failures", "failed": 1}, "wakecall: 1 items failed: see wakecall dispatch failures a/4\n"},
		"dispatch get a/5":    {map[string]any{"status": "cancelled"}, "wakecall: the dispatch is cancelled\n"},
		"dispatch follow a/2": {map[string]any{"status": "expired"}, "wakecall: the dispatch is expired\n"},
	} {
		url, _ := fixed(t, 200, c.answer)
		exit, out, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, program.ExitFailure, exit, line)
		require.Equal(t, c.says, complaint)
		require.NotEmpty(t, out)
	}
}

// The checks of an installation are shown whether or not it is ready, and one that fails is a
// failure.
func TestChecks(t *testing.T) {
	checks := []any{
		map[string]any{"name": "probe", "status": "ok", "at": "2027-01-31T09:00:00.000Z"},
		map[string]any{"name": "canary", "status": "unknown", "detail": "no timer has been measured yet"},
	}
	ready := map[string]any{"status": "ready", "checks": checks}
	url, asked := fixed(t, 200, ready)
	exit, out, complaint := run(t, false, "check", "--server", url)
	require.Equal(t, program.ExitDone, exit, complaint)
	require.Regexp(t, `(?m)^ok +probe +2027-01-31`, out)
	require.Regexp(t, `(?m)^unknown +canary +- +no timer has been measured yet$`, out)
	require.Equal(t, []string{"GET /readyz?verbose=true"}, *asked)
	checks[1].(map[string]any)["status"] = "failing"
	for status, answer := range map[int]any{
		200: ready,
		503: map[string]any{"type": "urn:wakecall:problem:unavailable", "detail": "Away.", "status": 503, "checks": checks},
	} {
		url, _ := fixed(t, status, answer)
		exit, out, complaint = run(t, false, "check", "--server", url)
		require.Equal(t, program.ExitFailure, exit)
		require.Equal(t, "wakecall: 1 of 2 checks fail\n", complaint)
		require.Regexp(t, `(?m)^failing +canary`, out)
	}
}

// What a process does not tell is left open, and why some may be missing is said beside the table.
func TestProcesses(t *testing.T) {
	url, _ := fixed(t, 200, map[string]any{"gateway": "g", "note": "Others may be missing.", "processes": []any{
		map[string]any{"id": "w", "role": "worker", "state": "silent", "last_seen": "2027-01-31T09:00:00.000Z"},
		map[string]any{
			"id": "g", "role": "node", "state": "alive", "version": "1.2.3", "host": "box", "last_seen": "2027-01-31T09:00:00.000Z",
			"preloaded": 7, "in_flight": 0,
		},
	}})
	exit, out, complaint := run(t, false, "processes", "--server", url)
	require.Equal(t, program.ExitDone, exit, complaint)
	require.Equal(t, "Others may be missing.\n", complaint)
	require.Regexp(t, `(?m)^silent +worker +w +- +- +- +- +2027-01-31`, out)
	require.Regexp(t, `(?m)^alive +node +g +box +1\.2\.3 +7 +0 +2027-01-31`, out)
}

// A running dispatch, or one with every item accepted, is no failure.
func TestADispatchThatIsWhole(t *testing.T) {
	for _, status := range []string{"running", "paused", "scheduled", "done"} {
		failed := 3
		if status == "done" {
			failed = 0
		}
		url, _ := fixed(t, 200, map[string]any{"status": status, "failed": failed})
		exit, _, complaint := run(t, false, "dispatch", "get", "a/1", "--server", url)
		require.Equal(t, program.ExitDone, exit, complaint)
	}
}

// An order above the workers' proved rate is noted, and so is the reason for a lower rate.
func TestARateThatIsNotReached(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("items", []byte(`{"id": "u-1"}`), 0o600))
	url, _ := fixed(t, 200, map[string]any{"status": "running", "per_second": 9000, "expected_per_second": 800})
	for _, line := range []string{"dispatch start a/1 --rate 9000 --items items", "dispatch rate a/1 9000"} {
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, program.ExitDone, exit, line)
		require.Equal(t, "The workers have not sent 9000 items a second yet: expect 800.\n", complaint)
	}
	url, _ = fixed(t, 200, map[string]any{"status": "running", "behind_since": "2026-11-25T12:00:00.000Z", "behind_why": "in_flight"})
	_, out, _ := run(t, false, "dispatch", "get", "a/1", "--server", url)
	require.Contains(t, out, "short of in_flight since 2026-11-25T12:00:00.000Z")
	url, _ = fixed(t, 200, map[string]any{"status": "running", "waits_for": "emergency"})
	_, out, _ = run(t, false, "dispatch", "get", "a/1", "--server", url)
	require.Contains(t, out, "waits for emergency")
}

// A change that no worker has applied yet is a success, with a note.
func TestPending(t *testing.T) {
	for _, line := range []string{"cancel a/1", "fire a/1", "move a/1 --delay 1h", "edit a/1 --url http://h/", "put a/1 --delay 1h", "pause a/1", "resume a/1", "ack w", "nack w", "dispatch pause a/1", "dispatch rate a/1 5", "dispatch cancel a/1"} {
		url, _ := fixed(t, 202, map[string]any{})
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, program.ExitDone, exit, line)
		require.Equal(t, "It is durable, and no worker has applied it yet.\n", complaint, line)
	}
}

// An unreadable line of a file is named, and no call is made.
func TestALineThatCannotBeRead(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("items", []byte(`{"id": "u-1"}`+"\n\n"+`{"name": "u-2"}`), 0o600))
	for line, asks := range map[string]int{"batch items": 0, "dispatch start a/1 --rate 5 --items items": 0} {
		url, asked := fixed(t, 200, map[string]any{})
		exit, _, complaint := run(t, false, append(strings.Fields(line), "--server", url)...)
		require.Equal(t, program.ExitUsage, exit, line)
		require.Contains(t, complaint, "items: line ")
		require.Len(t, *asked, asks, line)
	}
	url, _ := fixed(t, 200, map[string]any{})
	exit, _, complaint := run(t, false, "dispatch", "upload", "a/1", "items", "--server", url)
	require.Equal(t, program.ExitFailure, exit)
	require.Contains(t, complaint, "items: line 3: /name is not a field")
}

// A line is read as strictly as the API reads a body: what it says twice or behind its object would
// be lost without a word.
func TestALineIsReadStrictly(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, says := range map[string]string{
		`{"business_type":"a","business_id":"1","delay":"1h"} {"business_type":"a","business_id":"2","delay":"1h"}`: "items: line 1: ",
		`{"business_type":"a","business_id":"1","delay":"1h","delay":"2h"}`:                                         `duplicate object member name "delay"`,
		`{"business_type":"a","business_id":"1","Delay":"1h"}`:                                                      "/Delay is not a field",
		`{"business_type":"a","business_id":"1","delay":null}`:                                                      "null",
		`{"business_type":"a","business_id":"1","delay":"1h","callback":{"url":"http://h/","headers":null}}`:        "null",
		`null`: "null",
		`{"business_type":"a","business_id":"1","delay":"1h","payload":{"n":1,"n":2}}`: `duplicate object member name "n"`,
	} {
		require.NoError(t, os.WriteFile("items", []byte(line), 0o600))
		url, asked := fixed(t, 200, map[string]any{})
		exit, _, complaint := run(t, false, "batch", "items", "--server", url)
		require.Equal(t, program.ExitUsage, exit, line)
		require.Contains(t, complaint, "items: line 1: ", line)
		require.Contains(t, complaint, says, line)
		require.Empty(t, *asked, line)
	}
	require.NoError(t, os.WriteFile("items", []byte(`{"business_type":"a","business_id":"1","delay":"1h","payload":null}`), 0o600))
	url, asked := fixed(t, 200, map[string]any{})
	_, _, complaint := run(t, false, "batch", "items", "--server", url)
	require.Equal(t, []string{`POST /v1/timers/batch {"timers":[{"business_type":"a","business_id":"1","delay":"1h","payload":null}]}`}, *asked, complaint)
}

// A document on the command line is read in the same way.
func TestADocumentIsReadStrictly(t *testing.T) {
	for set, says := range map[string]string{
		`{"priority":1,"priority":2}`: `duplicate object member name "priority"`,
		`{"Priority":1}`:              "/Priority is not a field",
		`{"priority":null}`:           "null",
		`{"prioritty":1}`:             "/prioritty is not a field",
	} {
		url, asked := fixed(t, 200, map[string]any{})
		exit, _, complaint := run(t, false, "edit", "a/1", "--payload", "1", "--set", set, "--server", url)
		require.Equal(t, program.ExitUsage, exit, set)
		require.Contains(t, complaint, "--set: ", set)
		require.Contains(t, complaint, says, set)
		require.Empty(t, *asked, set)
	}
}
