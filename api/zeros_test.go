package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// asPolicy and asBooking read a body, and show what was understood.
func asPolicy(t *testing.T, body string) (answered any, refused []string) {
	t.Helper()
	members, err := decode.Parse([]byte(body))
	require.NoError(t, err, body)
	change, err := policies.Read(members, "order", delivery.Reach{}, policy.Policy{})
	refused = apitest.Pointers(t, err)
	if refused == nil {
		refused = apitest.Pointers(t, change.Policy.Check().Err())
	}
	return treeOf(t, change.Policy.WithDefaults()), refused
}

func asBooking(t *testing.T, body string) (answered any, refused []string) {
	t.Helper()
	members, err := decode.Parse([]byte(body))
	require.NoError(t, err, body)
	request, err := timers.ReadBooking(members, delivery.Reach{})
	refused = apitest.Pointers(t, err)
	if refused == nil {
		_, err = timer.Admit(request.Key, request.Terms, "booking", noon)
		refused = apitest.Pointers(t, err)
	}
	if request.Terms.Retry != nil {
		ladder := request.Terms.Retry.WithDefaults()
		request.Terms.Retry = &ladder
	}
	return treeOf(t, request.Terms), refused
}

func treeOf(t *testing.T, v any) (tree any) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &tree))
	return tree
}

// What was seen to be taken for left out.
func TestZeroIsNotAbsent(t *testing.T) {
	t.Parallel()
	policy := func(members string) string { return `{"callback":{"url":"https://h/"},` + members + `}` }
	for pointer, body := range map[string]string{
		"/limits/in_flight":   policy(`"limits":{"in_flight":0}`),
		"/limits/adds_burst":  policy(`"limits":{"adds_per_second":5,"adds_burst":0}`),
		"/retry/max_attempts": policy(`"retry":{"initial":"1s","max_attempts":0}`),
		"/retry/multiplier":   policy(`"retry":{"initial":"1s","multiplier":-0.0}`),
		"/retry/max_interval": policy(`"retry":{"initial":"1s","max_interval":"0s"}`),
		"/retry/initial":      policy(`"retry":{"initial":"0s"}`),
		"/callback/timeout":   `{"callback":{"url":"https://h/","timeout":"0h0m"}}`,
		"/callback/url":       `{"callback":{"url":""}}`,
		"/min_interval":       policy(`"min_interval":"0s"`),
		"/on_time":            policy(`"on_time":"0s"`),
		"/expires_after":      policy(`"expires_after":"0"`),
		"/priority":           policy(`"priority":0`),
	} {
		_, refused := asPolicy(t, body)
		require.Equal(t, []string{pointer}, refused, body)
	}
	for _, ladder := range []string{`{}`, `{"jitter":0}`, `{"jitter":0.5}`} {
		_, refused := asPolicy(t, policy(`"retry":`+ladder))
		require.Equal(t, []string{"/retry/initial"}, refused, "a ladder of nothing is not one that was left out")
	}
	booking := func(members string) string {
		return `{"business_type":"order","business_id":"1",` + members + `}`
	}
	for pointer, body := range map[string]string{
		"/callback/url":          booking(`"delay":"1h","callback":{"url":""}`),
		"/callback/timeout":      booking(`"delay":"1h","callback":{"url":"https://h/","timeout":"0s"}`),
		"/retry/multiplier":      booking(`"delay":"1h","retry":{"initial":"1s","multiplier":0}`),
		"/recurrence/timezone":   booking(`"recurrence":{"every":"1h","timezone":""}`),
		"/recurrence/missed":     booking(`"recurrence":{"every":"1h","missed":""}`),
		"/recurrence/on_failure": booking(`"recurrence":{"every":"1h","on_failure":""}`),
	} {
		_, refused := asBooking(t, body)
		require.Equal(t, []string{pointer}, refused, body)
	}
	limits, refused := asPolicy(t, policy(`"limits":{"pending":0},"preload":"0s"`))
	require.Empty(t, refused)
	require.EqualValues(t, 0, at(limits, "/limits/pending"), "no open timers at all")
	require.Equal(t, "0s", at(limits, "/preload"), "handed out when it rings")
}

// at is the value at a pointer, nil if there is none.
func at(tree any, pointer string) any {
	for token := range strings.SplitSeq(pointer[1:], "/") {
		members, _ := tree.(map[string]any)
		tree = members[token]
	}
	return tree
}

// split takes the pointer to a field apart: the object that has it, "" for the body, and its name.
func split(pointer string) (object, name string) {
	if object, name, within := strings.Cut(pointer[1:], "/"); within {
		return object, name
	}
	return "", pointer[1:]
}

// saying is a body that is in order but for what it says at a pointer.
func saying(t *testing.T, beside, pointer string, value any) string {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(beside), &body))
	object, name := split(pointer)
	members := body
	if object != "" {
		within, _ := body[object].(map[string]any)
		members = maps.Clone(within)
		if members == nil {
			members = map[string]any{}
		}
		body[object] = members
	}
	members[name] = value
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return string(text)
}

// besides is what a field goes with, where it does not stand alone.
var besides = map[string]string{
	"/retry":             `{"callback":{"url":"https://h/"},"retry":{"initial":"1ms"}}`,
	"/retry/initial":     `{"callback":{"url":"https://h/"},"retry":{"max_interval":"720h"}}`,
	"/limits/adds_burst": `{"callback":{"url":"https://h/"},"limits":{"adds_per_second":5}}`,
	"":                   `{"callback":{"url":"https://h/"}}`,
	"/fallback":          `{"callback":{"url":"https://h/"},"fallback":{"url":"https://second/"}}`,

	"booking":                   `{"business_type":"order","business_id":"1","delay":"1h"}`,
	"booking/retry":             `{"business_type":"order","business_id":"1","delay":"1h","retry":{"initial":"1ms"}}`,
	"booking/retry/initial":     `{"business_type":"order","business_id":"1","delay":"1h","retry":{"max_interval":"720h"}}`,
	"booking/recurrence":        `{"business_type":"order","business_id":"1","recurrence":{"cron":"@hourly"}}`,
	"booking/recurrence/every":  `{"business_type":"order","business_id":"1"}`,
	"booking/recurrence/after":  `{"business_type":"order","business_id":"1"}`,
	"booking/recurrence/jitter": `{"business_type":"order","business_id":"1","recurrence":{"every":"1h"}}`,
}

func besideOf(kind, pointer string) string {
	object, _ := split(pointer)
	for _, key := range []string{kind + pointer, kind + "/" + object, kind} {
		if body, ok := besides[key]; ok {
			return body
		}
	}
	return besides[kind]
}

// Whatever a field says is refused by its name, or is what the answer says: at
// its bounds, beyond them, and at zero, as the table of fields has it.
func TestWhatIsSaidIsAnsweredOrRefused(t *testing.T) {
	t.Parallel()
	held := 0
	for kind, fields := range map[string][]wire.Field{"": policy.Fields(), "booking": timer.Fields()} {
		read := asPolicy
		if kind == "booking" {
			read = asBooking
		}
		for _, field := range fields {
			for value, fits := range valuesOf(field) {
				body := saying(t, besideOf(kind, field.Pointer), field.Pointer, onWire(value))
				answered, refused := read(t, body)
				if !fits {
					require.Contains(t, refused, field.Pointer, body)
					continue
				}
				require.Empty(t, refused, body)
				got := at(answered, field.Pointer)
				if got == nil && value == field.Empty() { // left out where that means the same
					require.Contains(t, []any{field.Default, nil}, value, body)
					continue
				}
				require.EqualValues(t, onWire(value), got, body)
				held++
			}
		}
	}
	require.Greater(t, held, 40, "the oracle sees values")
}

// wire is a value as JSON has it.
func onWire(value any) any {
	switch v := value.(type) {
	case wire.Duration:
		return v.String()
	case int:
		return float64(v)
	}
	return value
}

// valuesOf are values near the bounds of a field, and whether they fit.
func valuesOf(field wire.Field) map[any]bool {
	values := map[any]bool{field.Empty(): !field.RefusesZero()}
	switch lowest := field.Lowest.(type) {
	case nil:
		return values
	case int:
		values[lowest], values[-1] = true, false
		if highest, ok := field.Highest.(int); ok {
			values[highest], values[highest+1] = true, false
		}
	case float64:
		values[lowest], values[-0.5], values[field.Highest], values[field.Highest.(float64)+1] = true, false, true, false
		if lowest > 0 {
			values[lowest/2] = false
		}
	case wire.Duration:
		values[lowest], values[wire.Duration(-1)] = true, false
		if highest, ok := field.Highest.(wire.Duration); ok {
			values[highest], values[highest+1] = true, false
		}
		if lowest > 0 {
			values[lowest-1] = false
		}
	default:
		values[field.Pointer+" has a type that no test knows"] = true
	}
	return values
}

// A field whose zero the core takes for left out stands in the table: a new one
// cannot be forgotten.
func TestTableHasEveryField(t *testing.T) {
	t.Parallel()
	bodies := map[reflect.Type][]wire.Field{
		reflect.TypeFor[policy.Policy](): policy.Fields(), reflect.TypeFor[timers.TermsBody](): timer.Fields(),
	}
	for body, fields := range bodies {
		listed := map[string]bool{}
		for _, field := range fields {
			listed[field.Pointer] = true
		}
		missing := []string{}
		for _, pointer := range scalars(body, "") {
			if !listed[pointer] {
				missing = append(missing, pointer)
			}
		}
		require.Subset(t, notSaid, missing, body)
	}
}

// notSaid are fields that are no client's to say, whose zero cannot be said, or
// that are checked for being empty where they stand.
var notSaid = []string{
	"/business_type", "/version", "/pressure_lifted_at", "/streamed_until", "/paused_by", "/paused_at", "/secrets_changed_at", "/back_pressure/status", "/back_pressure/since", "/back_pressure/until",
	"/alert/url", "/payload_base64", "/content_type", "/due_at", "/due_local", "/latest_at", "/recurrence/start_at", "/recurrence/end_at",
	"/recurrence/cron", "/recurrence/offset", "/recurrence/due_at", "/recurrence/due_local",
}

// scalars are the pointers to the numbers, texts and durations of a body.
func scalars(body reflect.Type, below string) (pointers []string) {
	for name, value := range decode.Fields(reflect.New(body).Elem()) {
		kind := value.Type()
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch kind.Kind() {
		case reflect.Struct:
			pointers = append(pointers, scalars(kind, below+"/"+name)...)
		case reflect.Slice, reflect.Map, reflect.Bool:
		default:
			pointers = append(pointers, below+"/"+name)
		}
	}
	return pointers
}

// A policy that leaves everything out is answered with the defaults of the
// table.
func TestDefaultsAreAnswered(t *testing.T) {
	t.Parallel()
	held := 0
	for _, field := range policy.Fields() {
		if field.Default == nil {
			continue
		}
		beside := besides[""]
		if object, _ := split(field.Pointer); besides["/"+object] != "" {
			beside = besides["/"+object]
		}
		answered, refused := asPolicy(t, beside)
		require.Empty(t, refused)
		if got := at(answered, field.Pointer); got != nil || field.Default != field.Empty() {
			require.EqualValues(t, onWire(field.Default), got, field.Pointer)
			held++
		}
	}
	require.Greater(t, held, 5)
}

// The document says of each field what the table has.
func TestDocumentHasEveryBound(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	for schema, fields := range map[string][]wire.Field{"NewPolicy": policy.Fields(), "TimerTerms": timer.Fields()} {
		for _, field := range fields {
			described := document.property(t, document.schema(t, schema), field.Pointer)
			name := schema + field.Pointer
			if field.Default == nil {
				require.NotContains(t, described, "default", name)
			} else if duration, ok := field.Default.(wire.Duration); ok {
				require.Equal(t, duration.String(), described["default"], name)
			} else {
				require.EqualValues(t, field.Default, described["default"], name)
			}
			describesBounds(t, described, field)
		}
	}
}

func describesBounds(t *testing.T, described node, field wire.Field) {
	t.Helper()
	zero := field.Empty()
	if field.Zero != "" {
		described.says(t, field.Pointer, fmt.Sprintf("`%v`", zero), field.Zero)
	}
	switch {
	case field.Lowest == nil:
		bounded := described["minLength"] == 1 || described["enum"] != nil || described["pattern"] != nil
		require.True(t, bounded, "%s may not be empty", field.Pointer)
	case isDuration(field) && field.Highest != nil:
		described.says(t, field.Pointer, fmt.Sprintf("From %v to %v", field.Lowest, field.Highest))
	case isDuration(field):
		return
	case field.Zero != "":
		described.says(t, field.Pointer, fmt.Sprintf("from %v", field.Lowest))
		require.EqualValues(t, zero, described["minimum"], field.Pointer)
		require.EqualValues(t, field.Highest, described["maximum"], field.Pointer)
	default:
		require.EqualValues(t, field.Lowest, described["minimum"], field.Pointer)
		require.EqualValues(t, field.Highest, described["maximum"], field.Pointer)
	}
}

func isDuration(field wire.Field) bool { _, ok := field.Lowest.(wire.Duration); return ok }

// property is the schema of the field at a pointer, with what it refers to.
func (n node) property(t *testing.T, schema node, pointer string) node {
	t.Helper()
	for token := range strings.SplitSeq(pointer[1:], "/") {
		schema = n.whole(t, schema).at(t, "properties", token)
	}
	return n.whole(t, schema)
}

// whole is a schema with everything that it is made of.
func (n node) whole(t *testing.T, schema node) node {
	t.Helper()
	whole := maps.Clone(schema)
	parts := []any{}
	for _, name := range []string{"allOf", "oneOf"} {
		if list, ok := schema[name].([]any); ok {
			parts = append(parts, list...)
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		parts = append(parts, n.at(t, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	for _, part := range parts {
		for name, value := range n.whole(t, part.(node)) {
			if properties, ok := whole[name].(node); ok && name == "properties" {
				properties = maps.Clone(properties)
				maps.Copy(properties, value.(node))
				whole[name] = properties
			} else if _, ours := whole[name]; !ours {
				whole[name] = value
			}
		}
	}
	return whole
}
