package api

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/operations"
	apipolicies "github.com/wakecall/wakecall/api/policies"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/unbounded"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/detector"
)

// What a body that is refused may cost: memory by its size, with room for a request itself
// and its answer, and processor time. Both are wide: work that is quadratic in a body, or a
// tree that is built of it, takes ten times as much.
const (
	costPerByte = 8
	costOfAny   = 512 << 10
	costOfTime  = time.Second
)

// withoutDetector skips a test under the race detector, whose cost it would measure. `make test`
// runs it without.
func withoutDetector(t *testing.T) {
	t.Helper()
	if detector.Watches {
		t.Skip("the race detector costs more than what is measured")
	}
}

// cost is what a function allocates in all, and the processor time of this process meanwhile.
func cost(f func()) (allocated int64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	f()
	took = processorTime() - began
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), took
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it cannot fail for oneself
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// isDear says what of a cost is too much for so many bytes, or "".
func isDear(size int, allocated int64, took time.Duration) string {
	if most := int64(size)*costPerByte + costOfAny; allocated > most {
		return fmt.Sprintf("%d bytes take %d in memory, %.1f times as many", size, allocated, float64(allocated)/float64(size))
	}
	if took > costOfTime {
		return fmt.Sprintf("%d bytes take %s", size, took)
	}
	return ""
}

// filled is a text of a form, in which % stands for as many of a part as fit into so many
// bytes. # in a part is its number.
func filled(form, part string, most int) string {
	var b strings.Builder
	before, after, _ := strings.Cut(form, "%")
	b.WriteString(before)
	for n := 0; b.Len()+len(part)+len(after)+16 < most; n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(part, "#", fmt.Sprintf("%x", n)))
	}
	b.WriteString(after)
	return b.String()
}

// costly is a request that shall be refused for little.
type costly struct{ method, path, body string }

// costlyRequests has a request for every list, every object of free names and every text
// whose reader could take more than its length, of every call that has a body.
func costlyRequests() map[string]costly {
	requests := map[string]costly{}
	add := func(name, method, path string, most int, form, part string) {
		requests[name] = costly{method, path, filled(form, part, most)}
	}
	const numbers, names, item = "1", `"#":1`, `{"#":1}`
	terms := map[string][2]string{
		"steps":           {`"retry":{"steps":[%]}`, numbers},
		"steps of text":   {`"retry":{"steps":[%]}`, `"-1s"`},
		"crons":           {`"recurrence":{"crons":[%]}`, `"x"`},
		"exclude":         {`"recurrence":{"cron":"* * * * *","exclude":[%]}`, `"x"`},
		"at":              {`"recurrence":{"at":[%]}`, numbers},
		"before":          {`"recurrence":{"before":[%]}`, `"-1s"`},
		"headers":         {`"callback":{"headers":{%}}`, names},
		"headers of text": {`"callback":{"headers":{%}}`, `"#":""`},
		"callback":        {`"callback":{%}`, names},
		"labels":          {`"labels":{%}`, `"#":""`},
		"outcome":         {`"on_failed":{%}`, names},
		"unknown":         {`%`, names},
		"unknown objects": {`"x":{%}`, names},
		"payload":         {`"payload":{%}`, names},
		"payload, twice":  {`"payload":{%,"0":1}`, names},
		"payload, half":   {`"payload":[%,"\ud800"]`, numbers},
		"nesting":         {`"payload":` + strings.Repeat(`{"a":`, 900) + `[%]` + strings.Repeat(`}`, 900), numbers},
		"too deep":        {`"payload":%`, strings.Repeat(`[`, 1000)},
		"host":            {`"callback":{"url":"https://` + manyRunes(120_000) + `/"}`, ""},
		"base64":          {`"payload_base64":"%"`, "AAAA"},
		"time":            {`"due_at":"2030-01-01T00:00:00.%Z"`, strings.Repeat("0", 1000)},
		"duration":        {`"delay":"%"`, strings.Repeat("1h", 1000)},
		"priority":        {`"priority":1e%`, strings.Repeat("9", 120_000)},
		"zone":            {`"due_local":"2030-01-01T00:00","timezone":"` + strings.Repeat("A/", 50_000) + `"`, ""},
		"policy lists":    {`"signing_secrets":[%]`, `"x"`},
		"certificate":     {`"tls":{"ca":"` + strings.Repeat("-----BEGIN CERTIFICATE-----", 4000) + `"}`, ""},
	}
	for name, of := range terms {
		add("timer "+name, "POST", "/v1/timers", limits.MaxBody, "{"+of[0]+"}", of[1])
		add("change "+name, "PATCH", "/v1/timers/order/1", limits.MaxBody, "{"+of[0]+"}", of[1])
		add("replacement "+name, "PUT", "/v1/timers/order/1", limits.MaxBody, "{"+of[0]+"}", of[1])
		add("policy "+name, "PUT", "/v1/policies/order", limits.MaxBody, "{"+of[0]+"}", of[1])
		add("bulk "+name, "POST", "/v1/bulk", limits.MaxBody, `{"operation":"edit","filter":{},"edit":{`+of[0]+`}}`, of[1])
		add("dispatch "+name, "POST", "/v1/dispatches", limits.MaxDispatchBody, `{`+of[0]+`}`, of[1])
		add("preview "+name, "POST", "/v1/recurrences/preview", limits.MaxBody, `{`+of[0]+`}`, of[1])
		one := filled("{"+of[0]+"}", of[1], limits.MaxBody)
		add("batch of "+name, "POST", "/v1/timers/batch", limits.MaxBatchBody/8, `{"timers":[%]}`, strings.ReplaceAll(one, "#", ""))
	}
	add("batch of numbers", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":[%]}`, numbers)
	add("batch of objects", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":[%]}`, item)
	add("batch with a long name", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":[],"%":1}`, strings.Repeat("x", 15<<20))
	add("batch of lists", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":[%]}`, "[]")
	add("batch that is an object", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":{%}}`, names)
	add("batch of other names", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{%}`, names)
	add("batch of one timer", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":[{%}]}`, names)
	add("batch that is nested", "POST", "/v1/timers/batch", limits.MaxBatchBody, `{"timers":[%]}`, strings.Repeat("[", 9000))
	add("items of numbers", "POST", "/v1/dispatches", limits.MaxDispatchBody, `{"items":[%]}`, numbers)
	add("items of objects", "POST", "/v1/dispatches", limits.MaxDispatchBody, `{"items":[%]}`, item)
	add("items of many names", "POST", "/v1/dispatches", limits.MaxDispatchBody, `{"items":[{%}]}`, names)
	add("items that are unlike", "POST", "/v1/dispatches", limits.MaxDispatchBody/4, `{"items":[%]}`, `{"id":1,"x":`+strings.Repeat("1", 500)+`}`)
	add("loader", "POST", "/v1/dispatches", limits.MaxDispatchBody, `{"loader":{%}}`, names)
	add("upload of numbers", "PUT", "/v1/dispatches/order/1/items", limits.MaxDispatchBody, "%", "1\n1\n1\n1\n")
	add("upload of objects", "PUT", "/v1/dispatches/order/1/items", limits.MaxDispatchBody, "%", "{}\n")
	add("upload of many names", "PUT", "/v1/dispatches/order/1/items", limits.MaxItemLine, "{%}", names)
	add("upload of one line", "PUT", "/v1/dispatches/order/1/items", limits.MaxBatchBody, "[%]", numbers)
	add("filter", "POST", "/v1/bulk", limits.MaxBody, `{"operation":"cancel","filter":{"labels":{%}}}`, names)
	add("filter of other names", "POST", "/v1/bulk", limits.MaxBody, `{"operation":"cancel","filter":{%}}`, names)
	add("emergency", "POST", "/v1/emergency/pause", limits.MaxBody, `{"business_types":[%]}`, numbers)
	add("emergency of text", "POST", "/v1/emergency/resume", limits.MaxBody, `{"business_types":[%]}`, `"-"`)
	add("ack", "POST", "/v1/deliveries/1/ack", limits.MaxBody, `{%}`, names)
	add("nack", "POST", "/v1/deliveries/1/nack", limits.MaxBody, `{"reason":{%}}`, names)
	add("pause", "POST", "/v1/timers/order/1/pause", limits.MaxBody, `{%}`, names)
	add("patch of a policy", "PATCH", "/v1/policies/order", limits.MaxBody, `{%}`, names)
	for name, query := range map[string]string{"query of names": "a#=1&", "query of labels": "label=a#:b&", "query of rubbish": "%zz;&"} {
		one := strings.ReplaceAll(query, "%", "%%")
		requests[name] = costly{"GET", "/v1/timers?" + strings.ReplaceAll(strings.Repeat(one, 4000), "%%", "%"), ""}
	}
	return requests
}

// manyRunes is a text of runes no two of which are the same, so long in bytes.
func manyRunes(size int) string {
	var b strings.Builder
	for r := rune(0x4e00); b.Len() < size; r++ {
		b.WriteRune(r)
	}
	return b.String()
}

// judges stand for the engine: they refuse what the core refuses, and take the rest for
// refused as well.
type judges struct{ apitimers.Timers }

var errJudged = &wire.Error{Code: wire.NotFound, Message: "It was judged."}

func judge(errs wire.FieldErrors) error { return errs.Join(errJudged) }

func (judges) Add(_ context.Context, r bookings.Request) (view timer.View, created bool, err error) {
	_, err = timer.Admit(r.Key, r.Terms, "booking", time.Now())
	return view, false, cmp.Or(err, error(errJudged))
}

func (judges) Upsert(_ context.Context, r bookings.Request, _ time.Duration) (view timer.View, effect bookings.Effect, err error) {
	return view, effect, judge(r.Terms.Check(time.Now()))
}

func (judges) Amend(_ context.Context, r bookings.Request, _ time.Duration) (view timer.View, effect bookings.Effect, err error) {
	return view, effect, judge(r.Terms.CheckChange(time.Now()))
}

func (judges) List(context.Context, timers.PageRequest) (timers.Page, error) {
	return timers.Page{}, errJudged
}

// storedPolicy is a policy that a patch changes.
var storedPolicy = policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: delivery.HTTP("https://h/")}}

type policyJudge struct{ apipolicies.Policies }

func (policyJudge) Put(_ context.Context, change policies.Change) (result policies.Result, err error) {
	if change.Edit != nil {
		if change, err = change.Edit(storedPolicy); err != nil {
			return result, err
		}
	}
	return result, judge(change.Policy.Check())
}

type dispatchJudge struct{ dispatches.Dispatches }

func (dispatchJudge) Add(_ context.Context, order dispatch.Dispatch, _ []dispatch.Item) (view dispatch.View, created bool, err error) {
	return view, false, judge(order.Check(time.Now()))
}

func (dispatchJudge) UploadAll(_ context.Context, _ wire.Key, _ int, items iter.Seq2[dispatch.Item, error]) (view dispatch.View, err error) {
	for _, err := range items {
		if err != nil {
			return view, err
		}
	}
	return view, errJudged
}

// Whatever stands in a body, to refuse it costs little, and is answered in little.
func TestRefusalsAreCheap(t *testing.T) { //nolint:paralleltest // it measures the process
	withoutDetector(t)
	server := New(Options{
		Front:      front.Options{Auth: auth.Anyone(), Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler)},
		Timers:     apitimers.Options{Timers: judges{}, Failures: silent{}},
		Dispatches: dispatches.Options{Dispatches: dispatchJudge{}},
		Operations: operations.Options{Ready: func(context.Context) error { return nil }},
		Policies:   policyJudge{},
		EndWaits:   func() {},
	})
	requests := costlyRequests()
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		t.Run(name, func(t *testing.T) {
			c := requests[name]
			var answer *httptest.ResponseRecorder
			allocated, took := cost(func() { answer = answerTo(t, server, c) })
			if answer.Code == http.StatusOK { // a batch refuses its timers one by one
				requireAllRefused(t, answer.Body.Bytes())
			} else {
				require.GreaterOrEqual(t, answer.Code, 400, answer.Body.String())
			}
			require.Less(t, answer.Code, 500, answer.Body.String())
			require.Empty(t, isDear(len(c.path)+len(c.body), allocated, took))
			require.Less(t, answer.Body.Len(), max(len(c.body)/2, wire.MaxFieldErrors*(wire.MaxPointer+wire.MaxFieldErrorDetail)))
		})
	}
}

func answerTo(t *testing.T, server *Server, c costly) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, strings.NewReader(c.body))
	request.Header.Set("Content-Type", "application/json")
	if strings.HasSuffix(c.path, "/items") {
		request.Header.Set("Content-Type", unbounded.MediaTypeNDJSON)
	}
	request.Header.Set("If-Match", "*")
	if c.method != http.MethodPut && c.method != http.MethodPatch {
		request.Header.Del("If-Match")
	}
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, request)
	return answer
}

func requireAllRefused(t *testing.T, answer []byte) {
	t.Helper()
	var body apitimers.BatchBody
	require.NoError(t, json.Unmarshal(answer, &body))
	for _, result := range body.Results {
		require.GreaterOrEqual(t, result.Status, 400)
	}
}

// The negative controls: both oracles see what they are there to see.
func TestDearRefusalsAreSeen(t *testing.T) { //nolint:paralleltest // it measures the process
	withoutDetector(t)
	body := filled("[%]", "1", 4<<20)
	allocated, took := cost(func() {
		var tree []any
		require.NoError(t, json.Unmarshal([]byte(body), &tree))
		runtime.KeepAlive(tree)
	})
	require.Contains(t, isDear(len(body), allocated, took), "in memory")
	wrong := strings.Repeat("x", 128<<10)
	_, took = cost(func() {
		for found, began := 0, processorTime(); processorTime()-began <= costOfTime; { // as one that looks at all for each
			found += strings.Count(wrong, "xy")
		}
	})
	require.Contains(t, isDear(len(wrong), 0, took), "take ")
}
