package verbs

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/wakecall/wakecall/cmd/program"
)

// verbOf has a call of the verb of each operation of the API, and its request.
var verbOf = map[string]struct{ line, asks string }{
	"addTimer":         {"add a/1 --delay 1h", `POST /v1/timers {"business_type":"a","business_id":"1","delay":"1h"}`},
	"listTimers":       {"list --type a --due-from 2027-01-31T09:00:00Z --limit 3", "GET /v1/timers?business_type=a&due_from=2027-01-31T09%3A00%3A00.000Z"},
	"addBatch":         {"batch bookings.ndjson", `POST /v1/timers/batch {"timers":[{"business_type":"a","business_id":"1","delay":"1h"}]}`},
	"getTimer":         {"get a/1", "GET /v1/timers/a/1"},
	"putTimer":         {`put a/1 --delay 30s --wait 0s --set '{"max_wait": "5m"}'`, `PUT /v1/timers/a/1?wait=0s {"delay":"30s","max_wait":"5m"}`},
	"patchTimer":       {`edit a/1 --set '{"priority": 2}' --payload @payload.json`, `PATCH /v1/timers/a/1 {"payload":{"order": 4711},"priority":2}`},
	"cancelTimer":      {"cancel a/1 --wait 5s", "DELETE /v1/timers/a/1?wait=5s"},
	"fireTimer":        {"fire a/1 --wait 5s", "POST /v1/timers/a/1/fire?wait=5s"},
	"redeliverTimer":   {"redeliver a/1", "POST /v1/timers/a/1/redeliver"},
	"countTimers":      {"stats --type a", "GET /v1/stats?business_type=a"},
	"countOutcomes":    {"outcomes a --step 5m", "GET /v1/outcomes?business_type=a&step=5m"},
	"reportObjectives": {"slo a --window 24h --target 0.99", "GET /v1/slo?business_type=a&target=0.99&window=24h"},
	"forecastTimers":   {"forecast a --step 5m", "GET /v1/forecast?business_type=a&step=5m"},
	"listAudit":        {"audit --who anna --outcome refused", "GET /v1/audit?outcome=refused&page_size=100&who=anna"},
	"listEmergencies":  {"emergency", "GET /v1/emergency"},
	"pauseEverything":  {"emergency pause a --note fire", `POST /v1/emergency/pause {"business_types":["a"],"note":"fire"}`},
	"resumeEverything": {"emergency resume --everything", `POST /v1/emergency/resume {"everything":true}`},
	"previewRecurrence": {"preview '30 9 * * MON-FRI' --timezone Europe/Berlin --count 3 --from 2027-01-31T09:00:00Z",
		`POST /v1/recurrences/preview {"recurrence":{"cron":"30 9 * * MON-FRI","timezone":"Europe/Berlin"},"from":"2027-01-31T09:00:00.000Z","count":3}`},
	"pauseTimer":      {"pause a/1 --note closed", `POST /v1/timers/a/1/pause {"note":"closed"}`},
	"resumeTimer":     {"resume a/1", "POST /v1/timers/a/1/resume"},
	"listAttempts":    {"attempts a/1", "GET /v1/timers/a/1/attempts"},
	"listHistory":     {"history a/1", "GET /v1/timers/a/1/history"},
	"explainTimer":    {"why a/1", "GET /v1/timers/a/1/why"},
	"listUpcoming":    {"upcoming a/1 --count 3", "GET /v1/timers/a/1/upcoming?count=3"},
	"listOccurrences": {"occurrences a/1 --limit 3", "GET /v1/timers/a/1/occurrences"},

	"startBulk":       {"bulk cancel --type a --job j --yes --no-wait", `POST /v1/bulk {"id":"j","operation":"cancel","filter":{"business_type":"a"}}`},
	"listBulk":        {"bulk list --status done", "GET /v1/bulk?status=done"},
	"getBulk":         {"bulk get j", "GET /v1/bulk/j"},
	"stopBulk":        {"bulk stop j", "DELETE /v1/bulk/j"},
	"listBulkResults": {"bulk results j", "GET /v1/bulk/j/results"},

	"startDispatch": {`dispatch start a/1 --rate 50 --items items.ndjson --url http://h/ --page 10 --delay 8h --set '{"warm_up": "10s"}'`,
		`POST /v1/dispatches {"business_type":"a","business_id":"1","per_second":50,"delay":"8h","warm_up":"10s","callback_per":"page","page_size":10,"callback":{"url":"http://h/"},"items":[{"id":"u-1","payload":{"n":1}},{"id":"u-2"}]}`},
	"listDispatches":        {"dispatch list --type a --status running", "GET /v1/dispatches?business_type=a&status=running"},
	"getDispatch":           {"dispatch get a/1", "GET /v1/dispatches/a/1"},
	"changeDispatch":        {"dispatch rate a/1 20 --wait 0s", `PATCH /v1/dispatches/a/1?wait=0s {"per_second":20}`},
	"cancelDispatch":        {"dispatch cancel a/1", "DELETE /v1/dispatches/a/1"},
	"uploadItems":           {"dispatch upload a/1 items.ndjson --from 7", "PUT /v1/dispatches/a/1/items?from=7 {\"id\":\"u-1\",\"payload\":{\"n\":1}}\n{\"id\":\"u-2\"}"},
	"pauseDispatch":         {"dispatch pause a/1", "POST /v1/dispatches/a/1/pause"},
	"resumeDispatch":        {"dispatch resume a/1 --wait 1s", "POST /v1/dispatches/a/1/resume?wait=1s"},
	"listDispatchFailures":  {"dispatch failures a/1", "GET /v1/dispatches/a/1/failures"},
	"retryDispatchFailures": {"dispatch retry a/1", "POST /v1/dispatches/a/1/retry-failures"},
	"followDispatch":        {"dispatch follow a/1", "GET /v1/dispatches/a/1/events"},

	"listPolicies":       {"policies list --paused --back-pressure", "GET /v1/policies?back_pressure=true&paused=true"},
	"getPolicy":          {"policies get a", "GET /v1/policies/a"},
	"putPolicy":          {"policies put a @policy.json --dry-run", `PUT /v1/policies/a?dry_run=true {"paused": true}`},
	"patchPolicy":        {`policies patch a '{"paused": null}'`, `PATCH /v1/policies/a {"paused": null}`},
	"deletePolicy":       {"policies delete a --timers keep", "DELETE /v1/policies/a?timers=keep"},
	"listPolicyVersions": {"policies versions a", "GET /v1/policies/a/versions"},
	"testPolicy":         {"policies test a --link fallback", "POST /v1/policies/a/test?link=fallback"},
	"liftBackPressure":   {"policies lift a", "DELETE /v1/policies/a/back_pressure"},

	"connect":      {"listen --type a", "GET /v1/streams/a"},
	"ackDelivery":  {"ack msg_1 --token t --wait 1s", "POST /v1/deliveries/msg_1/ack?wait=1s"},
	"nackDelivery": {"nack msg_1 --reason late --retry-after 5m", `POST /v1/deliveries/msg_1/nack {"reason":"late","retry_after":"5m"}`},

	"whoami":        {"whoami", "GET /v1/whoami"},
	"listKeys":      {"keys list", "GET /v1/keys"},
	"listProcesses": {"processes", "GET /v1/processes"},

	"index":   {"server about", "GET /"},
	"livez":   {"server live", "GET /livez"},
	"readyz":  {"server ready", "GET /readyz"},
	"metrics": {"server metrics", "GET /metrics"},
	"openapi": {"server openapi", "GET /openapi.yaml"},
}

// withoutVerb are the operations without their own verb, with the reason.
var withoutVerb = map[string]string{
	"indexOfV1":  "it answers what the index does",
	"answerRing": "an answer belongs to the connection of a long poll; listen has one that is answered as it rings",
}

// operation is an operation of the API, with the form of its path.
type operation struct {
	method string
	path   *regexp.Regexp
}

var parameter = regexp.MustCompile(`\{\w+\}`)

func operations(t *testing.T) map[string]operation {
	text, err := os.ReadFile("../../api/openapi.yaml")
	require.NoError(t, err)
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `yaml:"operationId"`
		} `yaml:"paths"`
	}
	require.NoError(t, yaml.Unmarshal(text, &document))
	found := map[string]operation{}
	for path, methods := range document.Paths {
		form := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(parameter.ReplaceAllString(path, "~")), "~", `[^/]+`) + "$")
		for method, one := range methods {
			if one.OperationID != "" {
				found[one.OperationID] = operation{strings.ToUpper(method), form}
			}
		}
	}
	require.Greater(t, len(found), 50, "the oracle sees operations")
	return found
}

// Every operation of the API has its verb, and every verb calls an operation.
func TestEveryOperationHasItsVerb(t *testing.T) {
	all := operations(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"bookings.ndjson": `{"business_type": "a", "business_id": "1", "delay": "1h"}` + "\n\n",
		"items.ndjson":    `{"id": "u-1", "payload": {"n":1}}` + "\n" + `{"id": "u-2"}`,
		"payload.json":    `{"order": 4711}` + "\n",
		"policy.json":     `{"paused": true}` + "\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for id, one := range all {
		verb, ok := verbOf[id]
		if !ok {
			require.NotEmpty(t, withoutVerb[id], "%s has no verb", id)
			continue
		}
		asked := firstCall(t, verb.line)
		require.Equal(t, verb.asks, asked, id)
		method, rest, _ := strings.Cut(asked, " ")
		path, _, _ := strings.Cut(strings.Fields(rest)[0], "?")
		require.Equal(t, one.method, method, id)
		require.Regexp(t, one.path, path, id)
	}
	for id := range verbOf {
		require.Contains(t, all, id, "the API has no such operation")
	}
	for id := range withoutVerb {
		require.Contains(t, all, id, "the API has no such operation")
	}
}

// firstCall runs a command line, split as by a shell, and returns its first call.
func firstCall(t *testing.T, line string) string {
	words, err := exec.CommandContext(t.Context(), "bash", "-c", "printf '%s\\n' "+line).Output()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		if strings.HasSuffix(r.URL.Path, "/events") {
			_, _ = io.WriteString(w, "event: end\ndata: ")
		}
		if strings.Contains(r.URL.Path, "/streams/") {
			stop() // a receiver does not end by itself
		}
		_, _ = io.WriteString(w, "{}\n")
	}))
	defer server.Close()
	args := slices.Concat(strings.Split(strings.TrimSpace(string(words)), "\n"), []string{"--server", server.URL})
	exit, complaint := runWith(ctx, args)
	require.Equal(t, program.ExitDone, exit, "%s: %s", line, complaint)
	require.NotEmpty(t, asked, line)
	return asked[0]
}
