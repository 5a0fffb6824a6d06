package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	apipolicies "github.com/wakecall/wakecall/api/policies"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/fields"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

// rules are timers and policies that hold a request to the rules of the core, and keep
// nothing.
type rules struct {
	apitimers.Timers
	reach delivery.Reach
}

func (r rules) admit(request bookings.Request) (timer.View, error) {
	_, err := timer.Admit(request.Key, request.Terms, "b", time.Now())
	return timer.View{Key: request.Key}, request.Terms.CheckReach(r.reach).Join(err)
}

func (r rules) Add(_ context.Context, request bookings.Request) (timer.View, bool, error) {
	view, err := r.admit(request)
	return view, true, err
}

func (r rules) Upsert(_ context.Context, request bookings.Request, _ time.Duration) (timer.View, bookings.Effect, error) {
	view, err := r.admit(request)
	return view, bookings.Created, err
}

func (r rules) Amend(_ context.Context, request bookings.Request, _ time.Duration) (timer.View, bookings.Effect, error) {
	err := request.Terms.CheckChange(time.Now()).Err()
	return timer.View{Key: request.Key}, bookings.Done, request.Terms.CheckReach(r.reach).Join(err)
}

func (r rules) List(context.Context, timers.PageRequest) (timers.Page, error) {
	return timers.Page{Timers: []timer.View{}}, nil
}

type policyRules struct{ apipolicies.Policies }

func (policyRules) Put(_ context.Context, change policies.Change) (policies.Result, error) {
	if change.Edit != nil {
		stored := policy.Policy{BusinessType: change.Policy.BusinessType, Version: 1}
		edited, err := change.Edit(stored)
		if err != nil {
			return policies.Result{}, err
		}
		change = edited
	}
	return policies.Result{Policy: change.Policy, Created: true}, change.Policy.Check().Err()
}

func (policyRules) List(context.Context) ([]policy.Policy, error) { return nil, nil }

type pauseRules struct{}

func (pauseRules) Pause(_ context.Context, target bookings.Target, _ timer.Pause) (timer.View, bookings.Effect, error) {
	return timer.View{Key: target.Key}, bookings.Done, nil
}

// ruled is a server whose nouns judge requests as the engine does.
func ruled() http.Handler {
	reach := delivery.Reach{Brokers: []string{"main"}}
	d := &desk{}
	return New(Options{
		Timers:      apitimers.Options{Timers: rules{reach: reach}, Pauser: pauseRules{}, Failures: silent{}},
		Dispatches:  dispatches.Options{Dispatches: d, Controls: d, Failures: d},
		Front:       front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: auth.Anyone()},
		Policies:    policyRules{},
		Bulk:        &bulkJobs{},
		Emergencies: pausing{types: 2, asked: new([]policy.EmergencyOrder)},
		Operations:  operations.Options{Ready: func(context.Context) error { return nil }},
		Reach:       reach,
	}).Handler()
}

// body is a request's, which grows field by field.
type body map[string]any

func (b body) clone() body {
	var copied body
	text, _ := json.Marshal(b)
	_ = json.Unmarshal(text, &copied)
	return copied
}

// set sets the field to which a path leads; nil takes it away.
func (b body) set(path string, value any) body {
	var into any = map[string]any(b)
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, name := range names {
		last := i == len(names)-1
		members, ok := into.(map[string]any)
		switch {
		case !ok: // the only element of a list
			into = into.([]any)[0]
		case last && value == nil:
			delete(members, name)
		case last:
			members[name] = value
		default:
			if members[name] == nil {
				members[name] = map[string]any{}
			}
			into = members[name]
		}
	}
	return b
}

// asked is an operation with a body.
type asked struct {
	method, path string
	base         body
	// needs are what fields need beside them, by the beginnings of their paths; nil takes away
	// what does not go with them. The longest beginning counts last.
	needs map[string]body
	// without are fields that are never taken, and why.
	without map[string]string
}

// ofRules is what the fields of a recurrence need, and ofTerms those of a timer.
func ofRules(under string) map[string]body {
	needs := map[string]body{}
	for name, rule := range map[string]body{
		"offset": {"every": "15m"}, "seconds": {"cron": "0 9 * * *"}, "dialect": {"cron": "0 30 9 ? * MON-FRI"}, "before": {"due_at": "2035-01-31T09:00:00Z"},
		"due_at": {"before": []string{"1h"}}, "due_local": {"before": []string{"1h"}, "timezone": "Europe/Berlin"}, "timezone": {"cron": "0 9 * * *"},
		"initial_delay": {"after": "15m"}, "start_at": {"every": "15m"}, "end_at": {"every": "15m"}, "jitter": {"every": "15m"}, "exclude": {"cron": "0 9 * * *"},
		"missed": {"every": "15m"}, "on_failure": {"every": "15m"}, "max_occurrences": {"every": "15m"}, "paused": {"every": "15m"},
	} {
		for beside, value := range rule {
			if needs[under+"/"+name] == nil {
				needs[under+"/"+name] = body{}
			}
			needs[under+"/"+name][under+"/"+beside] = value
		}
	}
	return needs
}

func ofDestinations(under string) map[string]body {
	return map[string]body{
		under + "/exchange":    {under + "/url": nil, under + "/broker": "main"},
		under + "/routing_key": {under + "/url": nil, under + "/broker": "main"}, under + "/broker": {under + "/url": nil},
		under + "/headers": {under + "/url": "https://orders.example.com/"}, under + "/timeout": {under + "/url": "https://orders.example.com/"},
		under + "/stream": {under + "/url": "https://orders.example.com/"},
	}
}

func ofTerms() map[string]body {
	needs := map[string]body{
		"/due_at": {"/delay": nil}, "/due_local": {"/delay": nil, "/timezone": "Europe/Berlin"}, "/timezone": {"/delay": nil, "/due_local": "2035-01-31T09:00"},
		"/max_wait": {"/delay": "1h"}, "/recurrence": {"/delay": nil}, "/content_type": {"/payload_base64": "AAEC"}, "/payload_base64": {"/content_type": "a/b"},
	}
	maps.Copy(needs, ofRules("/recurrence"))
	maps.Copy(needs, ofLadders())
	for _, under := range []string{"/callback", "/on_delivered", "/on_failed"} {
		maps.Copy(needs, ofDestinations(under))
	}
	return needs
}

func ofLadders() map[string]body {
	first := body{"/retry/initial": "1s"}
	return map[string]body{"/retry/jitter": first, "/retry/multiplier": first, "/retry/max_interval": first, "/retry/max_attempts": first}
}

// secret is why a field has no example.
const secret = "nobody should copy it"

func operationsWithBodies() map[string]asked {
	key := body{"business_type": "order-close", "business_id": "order-4711", "delay": "1h"}
	callback := body{"callback": body{"url": "https://orders.example.com/"}}
	order := body{"business_type": "a", "business_id": "b", "per_second": 5, "items": []any{body{"id": "u-1"}}}
	policies := map[string]body{
		"/declare": {"/callback": body{"broker": "main", "exchange": "timers", "routing_key": "a"}}, "/limits/adds_burst": {"/limits/adds_per_second": 5},
		"/fallback":        {"/fallback/url": "https://backup.example.com/"},
		"/fallback/broker": {"/fallback/url": nil}, "/fallback/exchange": {"/fallback/url": nil, "/fallback/broker": "main"},
		"/fallback/routing_key":  {"/fallback/url": nil, "/fallback/broker": "main"},
		"/declare/exchange_type": {"/declare/queue": "orders"}, "/declare/queue_type": {"/declare/queue": "orders"},
	}
	maps.Copy(policies, ofLadders())
	for _, under := range []string{"/callback", "/alert", "/on_delivered", "/on_failed"} {
		maps.Copy(policies, ofDestinations(under))
	}
	ownPolicy := map[string]string{
		"/version": "it is ignored", "/retired_secrets": "it is ignored", "/back_pressure": "it is ignored", "/paused_by": "it is ignored", "/paused_at": "it is ignored", "/secrets_changed_at": "it is ignored",
		"/signing_secrets": secret, "/tls": secret, "/business_type": "it is that of the path",
	}
	inPath := map[string]string{"/business_type": "it is that of the path", "/business_id": "it is that of the path"}
	dispatches := map[string]body{
		"/page_size": {"/callback_per": "page"}, "/loader": {"/items": nil}, "/upload": {"/items": nil},
		"/loader/page_size": {"/loader/url": "https://orders.example.com/"}, "/loader/shards": {"/loader/url": "https://orders.example.com/"},
		"/loader/timeout": {"/loader/url": "https://orders.example.com/"},
	}
	maps.Copy(dispatches, ofLadders())
	maps.Copy(dispatches, ofRules("/recurrence"))
	maps.Copy(dispatches, ofDestinations("/callback"))
	bulk := map[string]body{
		"/shift": {"/operation": "move"}, "/edit": {"/operation": "edit"}, "/filter/status": {"/operation": "redeliver"}, "/filter/ended_from": {"/operation": "redeliver"},
		"/filter/ended_to": {"/operation": "redeliver"},
	}
	for path, needs := range ofTerms() {
		under := body{"/operation": "edit"}
		for beside, value := range needs {
			if beside != "/delay" {
				under["/edit"+beside] = value
			}
		}
		bulk["/edit"+path] = under
	}
	dated := map[string]string{}
	for _, name := range []string{"due_at", "due_local", "timezone", "delay", "max_wait", "recurrence", "paused"} {
		dated["/edit/"+name] = "an edit says nothing of when"
	}
	return map[string]asked{
		"addTimer":          {"POST", "/v1/timers", key, ofTerms(), nil},
		"putTimer":          {"PUT", "/v1/timers/a/b", body{"delay": "1h"}, ofTerms(), inPath},
		"patchTimer":        {"PATCH", "/v1/timers/a/b", body{"priority": 2}, ofTerms(), inPath},
		"putPolicy":         {"PUT", "/v1/policies/a", callback, policies, ownPolicy},
		"patchPolicy":       {"PATCH", "/v1/policies/a", callback, policies, ownPolicy},
		"startDispatch":     {"POST", "/v1/dispatches", order, dispatches, nil},
		"changeDispatch":    {"PATCH", "/v1/dispatches/a/b", body{"per_second": 5}, nil, nil},
		"startBulk":         {"POST", "/v1/bulk", body{"operation": "cancel", "filter": body{}}, bulk, dated},
		"pauseEverything":   {"POST", "/v1/emergency/pause", body{}, map[string]body{"/note": {"/everything": true}}, nil},
		"resumeEverything":  {"POST", "/v1/emergency/resume", body{}, map[string]body{"/note": {"/everything": true}}, nil},
		"previewRecurrence": {"POST", "/v1/recurrences/preview", body{}, ofPreview(), nil},
		"pauseTimer":        {"POST", "/v1/timers/a/b/pause", body{}, nil, nil},
		"resumeTimer":       {"POST", "/v1/timers/a/b/resume", body{}, nil, nil},
	}
}

func ofPreview() map[string]body {
	needs := ofRules("/recurrence")
	needs["/from"], needs["/count"] = body{"/recurrence": body{"every": "15m"}}, body{"/recurrence": body{"every": "15m"}}
	return needs
}

// withoutExamples are the operations with a body whose fields have no examples, and why.
var withoutExamples = map[string]string{
	"addBatch":     "its timers are those of addTimer, and are refused one by one",
	"uploadItems":  "a line of it is an item of startDispatch",
	"answerRing":   "an answer names a ring that was given",
	"ackDelivery":  "it has no field that a value could be wrong for",
	"nackDelivery": "it needs a delivery that was accepted: its fields are tested with it",
}

// request is the body for a field that has a value, with what it needs.
func (a asked) request(path string, value any) body {
	made := a.base.clone()
	for _, beginning := range slices.Sorted(maps.Keys(a.needs)) {
		if path != beginning && !strings.HasPrefix(path, beginning+"/") {
			continue
		}
		for _, beside := range slices.Sorted(maps.Keys(a.needs[beginning])) {
			if beside != path {
				made.set(beside, a.needs[beginning][beside])
			}
		}
	}
	return made.set(path, value)
}

func (a asked) send(t *testing.T, server http.Handler, content body) (status int, problem problem.Document) {
	t.Helper()
	request := httptest.NewRequest(a.method, a.path, nil)
	if content != nil {
		text, err := json.Marshal(content)
		require.NoError(t, err)
		request = httptest.NewRequest(a.method, a.path, strings.NewReader(string(text)))
		request.Header.Set("Content-Type", "application/json")
	}
	request.Host = "localhost"
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, request)
	if answer.Code >= 400 {
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &problem), "%s", answer.Body)
	}
	return answer.Code, problem
}

// fieldsOfBody are the paths to all fields of a schema.
func (n node) fieldsOfBody(t *testing.T, schema node, path string, visit func(path string)) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		n.fieldsOfBody(t, n.at(t, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), path, visit)
		return
	}
	for _, kind := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[kind].([]any)
		for _, part := range parts {
			n.fieldsOfBody(t, part.(node), path, visit)
		}
	}
	properties, _ := schema["properties"].(node)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, ok := properties[name].(node)
		if !ok || property["readOnly"] == true {
			continue
		}
		visit(path + "/" + name)
		n.fieldsOfBody(t, property, path+"/"+name, visit)
	}
	if items, ok := schema["items"].(node); ok {
		n.fieldsOfBody(t, items, path+"/0", visit)
	}
	if free, ok := schema["additionalProperties"].(node); ok && len(free) > 0 {
		visit(path + "/x-free")
	}
}

// wrongFor is a value that no field takes.
func wrongFor(path string) any {
	if strings.HasSuffix(path, "/payload") { // it takes any JSON
		return strings.Repeat("x", timer.MaxPayload)
	}
	return []any{[]any{1}}
}

// Every refusal shows a value of its field, and that value is taken.
func TestEveryRefusalShowsAnAcceptedExample(t *testing.T) {
	t.Parallel()
	document, server := readDocument(t), ruled()
	operations, fields := operationsWithBodies(), 0
	for _, item := range document.at(t, "paths") {
		for _, one := range item.(node) {
			operation := one.(node)
			content, ok := operation["requestBody"].(node)
			if !ok {
				continue
			}
			id := operation["operationId"].(string)
			call, known := operations[id]
			require.True(t, known != (withoutExamples[id] != ""), "%s has its place in one of the tables", id)
			if !known {
				continue
			}
			seen := map[string]bool{}
			for _, media := range content.at(t, "content") {
				content = media.(node)
			}
			document.fieldsOfBody(t, content.at(t, "schema"), "", func(path string) {
				if !seen[path] && !call.excuses(path) {
					seen[path] = true
					fields++
					call.requireExample(t, server, id, path)
				}
			})
		}
	}
	require.Greater(t, fields, 250, "the oracle sees fields")
}

// excuses is whether a field has no example, for a reason.
func (a asked) excuses(path string) bool {
	for excused := range a.without {
		if path == excused || strings.HasPrefix(path, excused+"/") {
			return true
		}
	}
	return false
}

func (a asked) requireExample(t *testing.T, server http.Handler, id, path string) {
	t.Helper()
	status, problem := a.send(t, server, a.request(path, wrongFor(path)))
	require.GreaterOrEqual(t, status, 400, "%s %s", id, path)
	var example wire.Example
	for _, fieldErr := range problem.Errors {
		switch fieldErr.Pointer {
		case path:
			example = fieldErr.Example
		case path + "/0": // a list is refused for its element
			example = "[" + fieldErr.Example + "]"
		}
	}
	if !assert.NotContains(t, []wire.Example{"", "[]"}, example, "%s %s: %+v", id, path, problem) {
		return
	}
	var value any
	require.NoError(t, json.Unmarshal([]byte(example), &value))
	status, problem = a.send(t, server, a.request(path, value))
	assert.Less(t, status, 300, "%s %s: the example %s is refused: %+v", id, path, example, problem)
}

// What is in conflict with another field, or with the path, has no example: its value may be good, and
// the example would be refused as well.
func TestConflictsShowNoExample(t *testing.T) {
	t.Parallel()
	server := ruled()
	const timer, bulk, policy = "/v1/timers/order-close/1", "/v1/bulk", "/v1/policies/order-close"
	of := func(operation string, filter body) body { return body{"operation": operation, "filter": filter} }
	for name, c := range map[string]struct {
		method, path, pointer string
		body                  body
		want                  string // the code
	}{
		"two times":            {"PUT", timer, "/delay", body{"delay": "1h", "due_at": "2035-01-31T09:00:00Z"}, "conflict"},
		"another type":         {"PUT", timer, "/business_type", body{"delay": "1h", "business_type": "refund"}, "conflict"},
		"another id":           {"PUT", timer, "/business_id", body{"delay": "1h", "business_id": "2"}, "conflict"},
		"what has ended":       {"POST", bulk, "/filter/status", of("cancel", body{"status": "failed"}), "conflict"},
		"an end of open ones":  {"POST", bulk, "/filter/ended_from", of("cancel", body{"ended_from": "2025-01-31T09:00:00Z"}), "conflict"},
		"a burst of no rate":   {"PUT", policy, "/limits/adds_burst", body{"limits": body{"adds_burst": 5}}, "conflict"},
		"the control, no time": {"PUT", timer, "/delay", body{"delay": "soon"}, "invalid-duration"},
		"the control, no word": {"POST", bulk, "/filter/status", of("redeliver", body{"status": "soon"}), "invalid-parameter"},
	} {
		call := asked{method: c.method, path: c.path}
		status, problem := call.send(t, server, c.body)
		require.Equal(t, http.StatusUnprocessableEntity, status, name)
		i := slices.IndexFunc(problem.Errors, func(e wire.FieldError) bool { return e.Pointer == c.pointer })
		require.GreaterOrEqual(t, i, 0, "%s: %+v", name, problem.Errors)
		require.Equal(t, c.want, string(problem.Errors[i].Code), name)
		require.Equal(t, c.want == "conflict", problem.Errors[i].Example == "", "%s: %s", name, problem.Errors[i].Example)
	}
}

// The examples of times are in the next year, whenever they are told.
func TestExamplesStayInTheFuture(t *testing.T) {
	t.Parallel()
	for _, year := range []int{2026, 2031} {
		now := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC)
		var at wire.Instant
		require.NoError(t, json.Unmarshal([]byte(fields.Example("/due_at", now)), &at))
		require.Equal(t, year+1, at.Time().Year())
	}
	require.Empty(t, fields.Example("/nonsense", time.Now()))
	require.Empty(t, fields.Example("/signing_secrets/0", time.Now()), "nobody should copy it")
	require.Empty(t, fields.Example("/labels/A B", time.Now()), "no value makes the name good")
	require.Empty(t, fields.Example("/callback/headers/Host", time.Now()))
	require.EqualValues(t, `"shop"`, fields.Example("/callback/headers/url", time.Now()), "a free name is no field")
	require.EqualValues(t, `"1m"`, fields.Example("/retry/steps/2", time.Now()))
}
