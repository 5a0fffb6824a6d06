package api

import (
	"encoding/base64"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/wakecall/wakecall/api/access"
	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/emergencies"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/jobs"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// node is a part of the document.
type node map[string]any

func readDocument(t *testing.T) (document node) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal(OpenAPI, &document))
	return document
}

// at is the part below the given names. Every name must be there: a misspelt
// path would hold nothing to anything.
func (n node) at(t *testing.T, names ...string) node {
	t.Helper()
	for _, name := range names {
		below, ok := n[name].(node)
		require.True(t, ok, "%s of %v", name, names)
		n = below
	}
	return n
}

// schema is the part of a named schema below the given names, which stand
// between slashes: "Timer/properties/priority".
func (n node) schema(t *testing.T, path string) node {
	t.Helper()
	return n.at(t, append([]string{"components", "schemas"}, strings.Split(path, "/")...)...)
}

// words is a list of texts, such as an enum.
func words(list any) (texts []string) {
	for _, item := range list.([]any) {
		texts = append(texts, item.(string))
	}
	return texts
}

// silent are the nouns and a telemetry that nobody calls.
type silent struct {
	timers.Timers
	timers.Failures
	front.Telemetry
}

func (silent) Handler() http.Handler { return http.NotFoundHandler() }

var parameter = regexp.MustCompile(`:(\w+)`)

func TestDocumentNamesEveryRoute(t *testing.T) {
	server := New(Options{
		Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Operations: operations.Options{Metrics: http.NotFoundHandler()},
		Front: front.Options{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)},
	})
	var served, described []string
	for _, route := range server.Handler().(*echo.Echo).Routes() {
		if route.Method != echo.RouteNotFound && !strings.HasPrefix(route.Path, "/docs") {
			served = append(served, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
		}
	}
	for path, item := range readDocument(t).at(t, "paths") {
		// Nothing but methods: Swagger UI shows parameters of a path as nameless ones.
		for method := range item.(node) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	require.ElementsMatch(t, served, described)
}

func TestDocumentListsEveryWord(t *testing.T) {
	document := readDocument(t)
	var types, statuses []string
	for _, code := range append(constantsOf(t, "problems/codes.go", "Code"), constantsOf(t, "../core/wire/error.go", "Code")...) {
		types = append(types, problem.Type(wire.Code(code)))
	}
	for _, status := range timer.Statuses() {
		statuses = append(statuses, string(status))
	}
	var jobs []string
	for _, status := range job.Statuses() {
		jobs = append(jobs, string(status))
	}
	var classes []string
	for _, class := range delivery.FailureClasses() {
		classes = append(classes, string(class))
	}
	for name, want := range map[string][]string{
		"FailureClass": classes,
		"BulkStatus":   jobs, "BulkOperation": wordsOf(job.Operations()), "BulkResult": wordsOf(job.Results()),
		"ProcessRole": wordsOf(health.Roles()), "ProcessState": wordsOf(health.Lives()),
		"AuditOutcome": wordsOf(trail.Outcomes()), "HistoryEvent": wordsOf(timer.HistoryEvents()), "HistoryResult": wordsOf(timer.HistoryResults()),
		"ProblemType": types, "Status": statuses, "FieldErrorCode": constantsOf(t, "../core/wire/fielderror.go", "FieldErrorCode"),
		"DispatchStatus": wordsOf(dispatch.Statuses()), "Shortage": wordsOf(dispatch.Shortages()), "DispatchPer": wordsOf(dispatch.Pers()),
		"Reuse":     constantsOf(t, "../core/policy/policy.go", "Reuse"),
		"Link":      constantsOf(t, "../core/delivery/fallback.go", "Link"),
		"Missed":    constantsOf(t, "../core/recurrence/rule.go", "Missed"),
		"OnFailure": constantsOf(t, "../core/recurrence/rule.go", "OnFailure"),
	} {
		listed := words(document.schema(t, name)["enum"])
		if name == "ProblemType" {
			require.ElementsMatch(t, want, listed) // in the order of a reader, not of our files
		} else {
			require.Equal(t, want, listed, name)
		}
		if name == "FieldErrorCode" || name == "OnFailure" {
			continue
		}
		for _, word := range want {
			word = strings.TrimPrefix(word, problem.Type(""))
			require.Contains(t, document.schema(t, name)["description"], "`"+word+"`", name)
		}
	}
}

// Every list of words in the document is one of the code: a word that only one of them has is
// found.
func TestEveryListOfWordsIsOneOfTheCode(t *testing.T) {
	known := map[string]bool{}
	for _, list := range wordLists(t) {
		known[strings.Join(list, " ")] = true
	}
	lists := 0
	readDocument(t).walk(func(n node) {
		list, _ := n["enum"].([]any)
		if len(list) == 0 {
			return
		}
		if first, text := list[0].(string); !text || strings.HasPrefix(first, problem.Type("")) {
			return // a status, or what TestDocumentKnowsTheStatusOfEveryProblem holds
		}
		lists++
		require.True(t, known[strings.Join(words(list), " ")], "no list of the code: %v", list)
	})
	require.Greater(t, lists, 40)
	require.False(t, known["delivered failed expired"], "the control: a list that lacks a word")
}

// wordLists are the lists of words of the code, in its order.
func wordLists(t *testing.T) [][]string {
	t.Helper()
	var ended []string
	for _, status := range timer.Statuses() {
		if status.Finished() {
			ended = append(ended, string(status))
		}
	}
	return [][]string{
		ended, wordsOf(timer.Statuses()), wordsOf(timer.HistoryEvents()), wordsOf(timer.HistoryResults()),
		wordsOf(timer.Reasons()), wordsOf(timer.ReasonSources()), wordsOf(timer.EmptyReasons()),
		constantsOf(t, "../core/timer/filter.go", "Sort"),
		wordsOf(delivery.FailureClasses()), wordsOf(delivery.Waitings()), wordsOf(delivery.ExchangeTypes()), wordsOf(delivery.QueueTypes()),
		constantsOf(t, "../core/delivery/fallback.go", "Link"),
		{string(delivery.ResultDelivered), string(delivery.ResultRetry), string(delivery.ResultFailed), string(delivery.ResultAccepted)}, // of an attempt
		wordsOf(job.Operations()), wordsOf(job.Statuses()), wordsOf(job.Results()),
		wordsOf(dispatch.Statuses()), wordsOf(dispatch.Shortages()), wordsOf(dispatch.Pers()),
		{string(dispatch.Done), string(dispatch.DoneWithFailures), string(dispatch.Failed)}, // of an occurrence: a cancel ends them all, and none has a latest time
		{dispatch.ShardWaiting, dispatch.ShardRunning, dispatch.ShardDone, dispatch.ShardStopped},
		wordsOf(policy.Reuses()), wordsOf(calendar.Dialects()),
		constantsOf(t, "../core/recurrence/rule.go", "Missed"), constantsOf(t, "../core/recurrence/rule.go", "OnFailure"),
		constantsOf(t, "../core/outcomes/outcomes.go", "Source"), wordsOf(health.Statuses()), wordsOf(health.Roles()), wordsOf(health.Lives()),
		wordsOf(trail.Outcomes()), auth.RoleNames(), {auth.ViaConsole},
		constantsOf(t, "../core/wire/fielderror.go", "FieldErrorCode"), constantsOf(t, "../engine/policies/delete.go", "OnOpenTimers")[1:], // "" refuses
		append(means(t), "wakecall"),                 // of a record: Wakecall acts as well
		slices.DeleteFunc(means(t), isToken),         // of a caller who asks who he is
		{"answer", "body_sha256", "payload"},         // fields
		{"adds_per_second", "pending", "test_rings"}, // quotas
	}
}

// means are how callers authenticate.
func means(t *testing.T) []string {
	t.Helper()
	return constantsOf(t, "../internal/auth/principal.go", "Means")
}

// isToken reports whether it is the token of one delivery, which is for no other call.
func isToken(means string) bool { return means == string(auth.ByAckToken) }

func wordsOf[T ~string](words []T) (texts []string) {
	for _, word := range words {
		texts = append(texts, string(word))
	}
	return texts
}

// constantsOf reads the values of a file's string constants of one type.
func constantsOf(t *testing.T, path, kind string) (values []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		typed := spec.Type
		if imported, ok := typed.(*ast.SelectorExpr); ok {
			typed = imported.Sel
		}
		if name, ok := typed.(*ast.Ident); ok && name.Name == kind {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	})
	require.NotEmpty(t, values)
	return values
}

// Every place that ties problem types to a status ties them to the one in the
// table.
func TestDocumentKnowsTheStatusOfEveryProblem(t *testing.T) {
	tied := map[wire.Code]bool{}
	readDocument(t).walk(func(n node) {
		properties, _ := n["properties"].(node)
		kind, _ := properties["type"].(node)
		status, _ := properties["status"].(node)
		types, many := kind["enum"].([]any)
		if !many {
			types = []any{kind["const"]}
		}
		if status["const"] == nil || types[0] == nil {
			return
		}
		for _, text := range words(types) {
			code := problem.Document{Type: text}.Code()
			require.Equal(t, statusOf(code), status["const"], text)
			tied[code] = true
		}
	})
	tied[problems.MethodNotAllowed] = true // what is described has its methods
	require.ElementsMatch(t, allCodes(t), slices.Collect(maps.Keys(tied)))
}

// allCodes are the codes of problems.
func allCodes(t *testing.T) (codes []wire.Code) {
	t.Helper()
	for _, code := range append(constantsOf(t, "problems/codes.go", "Code"), constantsOf(t, "../core/wire/error.go", "Code")...) {
		codes = append(codes, wire.Code(code))
	}
	return codes
}

// statusOf is the status of the answer to a problem.
func statusOf(code wire.Code) int { return problems.DocumentOf(&wire.Error{Code: code}).Status }

// The examples of problems read like the real ones.
func TestDocumentShowsRealProblems(t *testing.T) {
	shown := 0
	readDocument(t).walk(func(n node) {
		text, _ := n["type"].(string)
		slug := problem.Document{Type: text}.Code()
		if slug == "" {
			return
		}
		known := problems.DocumentOf(&wire.Error{Code: slug})
		require.Equal(t, []any{known.Title, known.Status}, []any{n["title"], n["status"]}, slug)
		shown++
	})
	require.NotZero(t, shown)
}

// walk visits every object of the document.
func (n node) walk(visit func(node)) {
	visit(n)
	for _, value := range n {
		walkValue(value, visit)
	}
}

func walkValue(value any, visit func(node)) {
	switch v := value.(type) {
	case node:
		v.walk(visit)
	case []any:
		for _, item := range v {
			walkValue(item, visit)
		}
	}
}

func TestDocumentHasEveryField(t *testing.T) {
	document := readDocument(t)
	fields := func(v any) []string { return slices.Sorted(maps.Keys(decode.Fields(reflect.ValueOf(v).Elem()))) }
	hidden := []string{"signing_secrets", "pressure_lifted_at", "streamed_until", "claims"}
	shown := slices.DeleteFunc(fields(&policy.Policy{}), func(name string) bool { return slices.Contains(hidden, name) })
	withPayloads := slices.Sorted(slices.Values(append(fields(&timer.View{}), "content_type", "payload", "payload_base64")))
	for name, want := range map[string][]string{
		"TimerTerms": fields(&timers.TermsBody{}), "Timer": withPayloads, "Failure": fields(&delivery.Failure{}),
		"Stats": fields(&timer.Stats{}), "TypeStats": fields(&timer.TypeStats{}), "StatusCounts": fields(&timer.StatusCounts{}),
		"Forecast": fields(&forecast.Forecast{}), "ForecastStep": fields(&forecast.Step{}),
		"Timer/properties/links": fields(&timer.Links{}), "TimerPage": fields(&timers.ListBody{}), "BatchResults": fields(&timers.BatchBody{}), "BatchBooked": slices.DeleteFunc(fields(&timers.BatchResult{}), func(name string) bool { return name == "problem" }),
		"NewPolicy": fields(&policies.Body{}), "Tls": fields(&policy.TLS{}), "PolicyPatch": fields(&policies.Body{}), "Policy": shown,
		"Recurrence": fields(&recurrence.Rule{}), "RecurrencePreview": fields(&timers.PreviewBody{}), "Upcoming": fields(&timer.Upcoming{}),
		"Rings": fields(&streams.RingsBody{}), "Ring": fields(&streams.RingBody{}), "RingAnswer": fields(&streams.AnswerBody{}),
		"TimerCallback": fields(&delivery.Callback{}), "PolicyCallback": fields(&delivery.Callback{}), "ShownCallback": fields(&delivery.Callback{}),
		"BulkOrder": fields(&jobs.BulkBody{}), "TimerFilter": fields(&timer.Filter{}), "BulkJob": fields(&job.View{}), "BulkList": fields(&jobs.ListBody{}), "BulkLine": fields(&job.Line{}),
		"Problem": fields(&problem.Document{}), "FieldError": fields(&wire.FieldError{}), "Alive": fields(&operations.HealthBody{}), "Index": fields(&operations.IndexBody{}), "Index/properties/links": fields(&operations.IndexLinks{}), "Ready": fields(&operations.ReadyBody{}), "Principal": fields(&access.PrincipalView{}), "Grant": fields(&access.GrantView{}), "KeyList": fields(&access.KeysBody{}),
		"ProcessList": fields(&health.Processes{}), "Process": fields(&health.Process{}),
		"AuditPage": fields(&trail.Page{}), "AuditRecord": fields(&trail.Record{}), "AuditTarget": fields(&trail.Target{}), "AuditItem": fields(&trail.Item{}),
		"AttemptPage": fields(&timers.AttemptsBody{}), "Attempt": fields(&answers.ShownAttempt{}),
		"HistoryPage": fields(&timers.HistoryBody{}), "HistoryEntry": fields(&timer.HistoryEntry{}), "FieldChange": fields(&timer.FieldChange{}), "Actor": fields(&wire.Actor{}), "Why": fields(&timers.WhyBody{}), "Fact": fields(&timer.Fact{}), "EmergencyOrder": fields(&emergencies.Body{}), "Emergencies": fields(&policy.Held{}), "Emergency": fields(&policy.Emergency{}),
		"DispatchOrder": fields(&dispatches.Body{}), "DispatchLoader": fields(&dispatch.Loader{}), "DispatchItem": fields(&dispatches.ItemBody{}),
		"DispatchChange": fields(&dispatches.ChangeBody{}), "Dispatch": fields(&dispatch.View{}), "Dispatch/properties/links": fields(&timer.Links{}),
		"AchievedRates": fields(&dispatch.Rates{}), "DispatchShard": fields(&dispatch.ShardView{}), "DispatchEnd": fields(&dispatch.End{}), "DispatchPage": fields(&dispatches.ListBody{}),
		"DispatchFailure": fields(&answers.ShownItem{}), "RetriedFailures": fields(&dispatches.RetriedBody{}),
	} {
		require.Equal(t, want, slices.Sorted(maps.Keys(document.schema(t, name).at(t, "properties"))), name)
	}
	ladder := maps.Clone(document.schema(t, "StepsRetry/properties"))
	maps.Copy(ladder, document.schema(t, "ExponentialRetry/properties"))
	require.Equal(t, fields(&delivery.Retry{}), slices.Sorted(maps.Keys(ladder)))
	for _, name := range []string{"NewTimer", "TimerReplacement", "TimerChange"} {
		parts := document.schema(t, name)["allOf"].([]any)
		require.Len(t, parts, 2, "terms and key")
		key := slices.Sorted(maps.Keys(parts[1].(node).at(t, "properties")))
		require.Equal(t, fields(&wire.Key{}), key, name)
	}
}

// What a client sends and what it is answered are closed: a field that is not
// described is an error.
func TestDocumentIsClosed(t *testing.T) {
	for name, schema := range readDocument(t).at(t, "components", "schemas") {
		body := schema.(node)
		if body["type"] != "object" || name == "TimerTerms" || name == "CallbackHeaders" || name == "Labels" {
			continue // terms are closed by what is made of them
		}
		closed := body["additionalProperties"] == false || body["unevaluatedProperties"] == false
		require.True(t, closed, name)
	}
}

func TestDocumentHasTheLimits(t *testing.T) {
	document := readDocument(t)
	for path, want := range map[string]any{
		"TimerTerms/properties/payload_base64/maxLength":        base64.StdEncoding.EncodedLen(timer.MaxPayload),
		"TimerTerms/properties/content_type/maxLength":          timer.MaxContentTypeLen,
		"Timer/properties/priority/minimum":                     policy.MinPriority,
		"Timer/properties/priority/maximum":                     policy.MaxPriority,
		"CallbackUrl/maxLength":                                 delivery.MaxURLLen,
		"CallbackHeaders/maxProperties":                         delivery.MaxHeaders,
		"Tls/properties/client_key/maxLength":                   policy.MaxPEM,
		"HeaderName/maxLength":                                  delivery.MaxHeaderName,
		"Forecast/properties/steps/maxItems":                    forecast.MaxSteps,
		"Labels/maxProperties":                                  timer.MaxLabels,
		"HeaderValue/maxLength":                                 delivery.MaxHeaderValue,
		"StepsRetry/properties/steps/maxItems":                  delivery.MaxAttempts - 1,
		"Failure/properties/message/maxLength":                  wire.MaxFailureMessage,
		"Problem/properties/errors/maxItems":                    wire.MaxFieldErrors,
		"FieldError/properties/pointer/maxLength":               wire.MaxPointer,
		"FieldError/properties/detail/maxLength":                wire.MaxFieldErrorDetail,
		"Batch/properties/timers/maxItems":                      limits.MaxBatch,
		"BatchResults/properties/results/maxItems":              limits.MaxBatch,
		"TimerPage/properties/timers/maxItems":                  limits.MaxPageSize,
		"NewPolicy/properties/signing_secrets/maxItems":         policy.MaxSecrets,
		"DispatchRate/minimum":                                  dispatch.MinRate,
		"DispatchRate/maximum":                                  dispatch.MaxRate,
		"DispatchOrder/properties/page_size/maximum":            dispatch.MaxPage,
		"DispatchOrder/properties/items/maxItems":               dispatch.MaxInlineItems,
		"LoaderShards/maximum":                                  dispatch.MaxShards,
		"LoaderPageSize/maximum":                                dispatch.MaxPage,
		"LoaderPageSize/default":                                dispatch.DefaultPage,
		"DispatchedPage/properties/items/maxItems":              dispatch.MaxPage,
		"LoadedPage/properties/items/maxItems":                  dispatch.MaxPage,
		"BulkRate/minimum":                                      job.MinRate,
		"BulkRate/maximum":                                      job.MaxRate,
		"BulkRate/default":                                      job.DefaultRate,
		"BulkJob/properties/per_second/minimum":                 job.MinRate,
		"BulkJob/properties/per_second/maximum":                 job.MaxRate,
		"ShownCallback/properties/headers/additionalProperties": node{"const": delivery.Hidden},
		"Recurrence/properties/cron/maxLength":                  recurrence.MaxCronLen,
		"Recurrence/properties/crons/maxItems":                  recurrence.MaxCrons,
		"Recurrence/properties/exclude/maxItems":                recurrence.MaxExcludes,
		"Attempt/properties/answer/maxLength":                   delivery.MaxAnswer,
		"EmergencyOrder/properties/business_types/maxItems":     policy.MaxEmergencyTypes,
		"UpcomingCount/maximum":                                 recurrence.MaxUpcoming,
		"Rings/properties/rings/maxItems":                       limits.MaxWindow,
		"UpcomingCount/default":                                 recurrence.DefaultUpcoming,
		"Upcoming/properties/upcoming/maxItems":                 recurrence.MaxUpcoming,
	} {
		cut := strings.LastIndex(path, "/")
		require.Equal(t, want, document.schema(t, path[:cut])[path[cut+1:]], path)
	}
	attempt := document.named(t, document.at(t, "webhooks", "timerDue", "post")["parameters"], "Wakecall-Attempt")
	require.Equal(t, delivery.MaxAttempts, attempt.at(t, "schema")["maximum"])
	size := document.named(t, document.at(t, "paths", "/v1/timers", "get")["parameters"], "page_size").at(t, "schema")
	require.Equal(t, node{"type": "integer", "minimum": 1, "maximum": limits.MaxPageSize, "default": limits.DefaultPageSize}, size)
	lines := document.named(t, document.at(t, "paths", "/v1/bulk/{id}/results", "get")["parameters"], "count").at(t, "schema")
	require.Equal(t, node{"type": "integer", "minimum": 1, "maximum": limits.MaxPageSize}, lines)
	require.Equal(t, kernel.DefaultWait.String(), document.at(t, "components", "parameters", "Wait", "schema")["default"])
	require.Equal(t, tuning.RequestIDLen, document.at(t, "components", "headers", "RequestId", "schema")["maxLength"])
	require.Equal(t, tuning.UnavailableRetryAfter, document.at(t, "components", "headers", "RetryAfter")["example"])
}

// named is the parameter with the given name.
func (n node) named(t *testing.T, parameters any, name string) node {
	for _, p := range parameters.([]any) {
		if p.(node)["name"] == name {
			return p.(node)
		}
	}
	require.Fail(t, "there is no parameter "+name)
	return nil
}

// Limits that JSON Schema cannot hold, durations and sizes in bytes, stand in
// the words.
func TestDocumentSaysTheLimits(t *testing.T) {
	document := readDocument(t)
	short := func(d time.Duration) string { return wire.Duration(d).String() }
	ahead, payload := short(wire.MaxAhead), strconv.Itoa(timer.MaxPayload)+" bytes"
	wait := "From " + short(time.Millisecond) + " to " + short(delivery.MaxRetryStep)
	for path, want := range map[string][]string{
		"DispatchItem/properties/payload":          {payload},
		"DispatchOrder/properties/items":           {strconv.Itoa(dispatch.MaxInlineBytes) + " bytes"},
		"DispatchOrder/properties/due_at":          {short(timer.MaxPast) + " ago", ahead + " ahead"},
		"WarmUp":                                   {"0s to " + short(dispatch.MaxWarmUp)},
		"BusinessType":                             {strconv.Itoa(wire.MaxBusinessTypeLen)},
		"BusinessId":                               {strconv.Itoa(wire.MaxBusinessIDLen)},
		"TimerTerms/properties/due_at":             {short(timer.MaxPast) + " ago", ahead + " ahead"},
		"TimerTerms/properties/payload":            {payload},
		"TimerTerms/properties/payload_base64":     {payload},
		"CallbackUrl":                              {strconv.Itoa(delivery.MaxURLLen)},
		"RetryWait":                                {wait},
		"ExponentialRetry/properties/max_interval": {"default " + delivery.Retry{}.WithDefaults().MaxInterval.String()},
		"Recurrence/properties/start_at":           {ahead + " ahead"},
		"Missed":                                   {short(recurrence.MissedGrace) + " late", "newest " + strconv.Itoa(recurrence.MaxMadeUp)},
		"Retry":                                    {short(delivery.MaxRetryAfter)},
		"Failure/properties/message":               {strconv.Itoa(wire.MaxFailureMessage) + " bytes"},
	} {
		document.schema(t, path).says(t, path, want...)
	}
	paths := document.at(t, "paths")
	deep, many := fmt.Sprintf("nested at most %d deep", wire.MaxNesting), fmt.Sprintf("up to %d.", wire.MaxFieldErrors)
	document.at(t, "info").says(t, "info", deep, many, strconv.Itoa(tuning.HeaderBytes>>10)+" KiB")
	document.schema(t, "Problem/properties/errors").says(t, "errors", strconv.Itoa(wire.MaxFieldErrors), strconv.Itoa(limits.MaxBatchFieldErrors))
	document.at(t, "components", "responses", "Malformed").says(t, "malformed", fmt.Sprintf("more than %d deep", wire.MaxNesting))
	paths.at(t, "/v1/timers", "post").says(t, "add", short(timer.MaxPast))
	one := strconv.Itoa(limits.MaxBody>>10) + " KiB"
	for path, method := range map[string]string{"/v1/timers": "post", "/v1/timers/{type}/{id}": "put", "/v1/policies/{type}": "put", "/v1/recurrences/preview": "post", "/v1/bulk": "post", "/v1/streams/{type}/answers": "post"} {
		paths.at(t, path, method, "requestBody").says(t, path, one)
	}
	paths.at(t, "/v1/timers/{type}/{id}", "patch", "requestBody").says(t, "patch", one)
	paths.at(t, "/v1/policies/{type}", "patch", "requestBody").says(t, "patch", one)
	paths.at(t, "/v1/timers/batch", "post", "requestBody").says(t, "batch", strconv.Itoa(limits.MaxBatchBody>>20)+" MiB", one)
	paths.at(t, "/v1/dispatches", "post", "requestBody").says(t, "dispatch", strconv.Itoa(limits.MaxDispatchBody>>20)+" MiB")
	paths.at(t, "/v1/dispatches/{type}/{id}/items", "put").says(t, "upload", strconv.Itoa(limits.MaxItemLine>>10)+" KiB", short(tuning.ReadTimeout), "up to "+strconv.Itoa(wire.MaxFieldErrors))
	document.at(t, "webhooks", "dispatchItem", "post", "requestBody").says(t, "item", payload)
	document.at(t, "webhooks", "dispatchLoader", "get").says(t, "loader", strconv.Itoa(dispatch.MaxLoaderAnswer>>20)+" MiB")
	steps := document.named(t, paths.at(t, "/v1/forecast", "get")["parameters"], "step")
	steps.says(t, "step", "to "+short(forecast.MaxStep), strconv.Itoa(forecast.MaxSteps))
	require.Equal(t, short(forecast.DefaultStep), steps.at(t, "schema")["default"])
	document.at(t, "components", "responses", "TimerCreated", "headers").at(t, forecast.HeaderExpectedLateness)
	document.at(t, "components", "responses", "DispatchShown", "headers").at(t, dispatch.HeaderExpectedRate)
	paths.at(t, "/v1/dispatches", "post", "responses", "201", "headers").at(t, dispatch.HeaderExpectedRate)
	document.at(t, "components", "parameters", "Wait").says(t, "wait", "From 0s to "+short(kernel.MaxWait))
	paths.at(t, "/v1/bulk/{id}", "delete").says(t, "stop", short(kernel.DefaultWait))
	document.schema(t, "BulkOrder/properties/shift").says(t, "shift", "-"+ahead+" to "+ahead)
	callback := document.at(t, "webhooks", "timerDue", "post")
	callback.says(t, "callback", strconv.Itoa(delivery.MaxResponseRead>>10)+" KiB")
	callback.at(t, "requestBody").says(t, "callback", payload)
	callback.at(t, "responses", "429").says(t, "429", short(delivery.MaxRetryAfter))
}

func (n node) says(t *testing.T, name string, texts ...string) {
	t.Helper()
	description := strings.Join(strings.Fields(n["description"].(string)), " ")
	for _, text := range texts {
		require.Contains(t, description, text, name)
	}
}

func TestDocumentHasTheDefaultLadder(t *testing.T) {
	ladder, ok := readDocument(t).schema(t, "PolicyRetry")["default"].(node)
	require.True(t, ok)
	want := delivery.DefaultRetry()
	var steps []string
	for _, step := range want.Steps {
		steps = append(steps, step.String())
	}
	require.Equal(t, steps, words(ladder["steps"]))
	require.Equal(t, want.Jitter, ladder["jitter"])
}

func TestDocumentHasThePatterns(t *testing.T) {
	document := readDocument(t)
	pattern := func(name string) *regexp.Regexp {
		return regexp.MustCompile(document.schema(t, name)["pattern"].(string))
	}
	types, ids, secrets := pattern("BusinessType"), pattern("BusinessId"), pattern("SigningSecret")
	for _, text := range samples() {
		require.Equal(t, len(wire.CheckBusinessType(text)) == 0, types.MatchString(text), "type %q", text)
		key := wire.Key{BusinessType: "x", BusinessID: text}
		require.Equal(t, len(key.Check()) == 0, ids.MatchString(text), "id %q", text)
	}
	for n := range 80 {
		secret := policy.SecretPrefix + base64.StdEncoding.EncodeToString(make([]byte, n))
		_, ok := policy.DecodeSecret(secret)
		require.Equal(t, ok, secrets.MatchString(secret), "a secret of %d bytes", n)
	}
	bulk := regexp.MustCompile(document.schema(t, "BulkOrder/properties/id")["pattern"].(string))
	for _, text := range samples() {
		require.Equal(t, len(job.CheckID(text)) == 0, bulk.MatchString(text), "job %q", text)
	}
	id := timer.Memo{Booking: "x"}.WebhookID(wire.Key{BusinessType: "x", BusinessID: "x"})
	require.Regexp(t, pattern("WebhookId"), id)
	require.Regexp(t, pattern("Instant"), wire.At(time.Unix(1, 1)).String())
	for _, d := range []time.Duration{0, time.Millisecond, 90 * time.Second, wire.MaxAhead, 1500 * time.Millisecond} {
		require.Regexp(t, pattern("Duration"), wire.Duration(d).String())
	}
	shift := regexp.MustCompile(document.schema(t, "BulkOrder/properties/shift")["pattern"].(string))
	for _, text := range []string{
		"0", "2h", "1.5h30m", "3d", "1d12h", "2w", "1w2d3h", "P1D", "PT0,5S", "P1DT12H", "", "-", "3", "d", "1d2w", "soon", "1x",
	} {
		read := new(wire.Duration).UnmarshalText([]byte(text)) == nil
		require.Equal(t, read, text != "" && pattern("Duration").MatchString(text), "duration %q", text)
		for _, signed := range []string{text, "-" + text, "+" + text} {
			require.Equal(t, new(wire.Duration).UnmarshalText([]byte(signed)) == nil, shift.MatchString(signed), "shift %q", signed)
		}
	}
}

// samples are texts of every length near a limit, and every character in the
// first place and in the second.
func samples() (texts []string) {
	for _, n := range []int{
		0, 1, wire.MaxBusinessTypeLen, wire.MaxBusinessTypeLen + 1, wire.MaxBusinessIDLen, wire.MaxBusinessIDLen + 1,
	} {
		texts = append(texts, strings.Repeat("x", n))
	}
	for c := range rune(256) {
		texts = append(texts, string(c), "x"+string(c))
	}
	return texts
}

// An example of a due time is one that can be booked, in whatever year it is read.
func TestExamplesDoNotAge(t *testing.T) {
	t.Parallel()
	due := regexp.MustCompile(`due_local: '([^']+)'`)
	for _, year := range []int{2026, 2027, 2050} {
		now := time.Date(year, time.December, 31, 23, 59, 0, 0, time.UTC)
		examples := due.FindAllSubmatch(inNextYear(document, now), -1)
		require.NotEmpty(t, examples)
		for _, example := range examples {
			var wall wire.Wall
			require.NoError(t, wall.UnmarshalText(example[1]))
			terms := timer.Terms{DueLocal: &wall, Timezone: "Europe/Berlin", Callback: &delivery.Callback{Destination: delivery.HTTP("https://example.com/")}}
			require.NoError(t, terms.Check(now).Err(), "%d", year)
			require.Error(t, terms.Check(now.AddDate(2, 0, 0)).Err(), "the negative control: a fixed date is refused some day")
		}
	}
}
