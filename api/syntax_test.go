package api

import (
	"bytes"
	"encoding"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/fields"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// What keeps a body from being read is said, and where.
func TestFaultsOfABodyAreNamed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"payload":{"a":["\ud800"]}}`:            `The body has a lone surrogate, \ud800, which is half of a character, at /payload/a/0.`,
		`{"payload":"x\uDFFF"}`:                   `The body has a lone surrogate, \uDFFF, which is half of a character, at /payload.`,
		`{"payload":"\ud83d\u0041"}`:              `The body has a lone surrogate, \ud83d, which is half of a character, at /payload.`,
		`{"payload":{"\ud800":1}}`:                `The body has a lone surrogate, \ud800, which is half of a character, at /payload.`,
		"{\"payload\":\"\xff\"}":                  "The body is not UTF-8 at /payload.",
		"{\"payload\":\"\xed\xa0\x80\"}":          "The body is not UTF-8 at /payload.",
		`{"payload":"\q"}`:                        "The body is not valid JSON at /payload.",
		`{"payload":{"a":1,"b":{"a":2},"a":3}}`:   "The body has a name twice at /payload/a.",
		`{"payload":[{"a":1},{"a":1,"\u0061":2}]`: "The body has a name twice at /payload/1/a.",
		`{"a":1,"a":2`:                            "The body has a name twice at /a.",
		`{"a":1,}`:                                "The body is not valid JSON.",
		`{"a":1} {}`:                              "The body must be one JSON object.",
		`{"a":1}x`:                                "The body is not valid JSON.",
		`[]`:                                      "The body must be one JSON object.",
		``:                                        "The body must be one JSON object.",
		` `:                                       "The body must be one JSON object.",
		`null`:                                    "The body must be one JSON object.",
	} {
		_, err := parseObject([]byte(body))
		require.Equal(t, want, problemOf(err).Detail, body)
		require.Equal(t, 400, problemOf(err).Status, body)
	}
	for _, body := range []string{`{}`, ` {"a":"\ud83d\ude00"} `, `{"":{"":{"":1}}}`, `{"a":{"b":1},"b":{"b":1}}`} {
		_, err := parseObject([]byte(body))
		require.NoError(t, err, body)
	}
}

// One timer of a batch that cannot be read refuses itself, and no other.
func TestOneUnreadableTimerOfABatch(t *testing.T) {
	t.Parallel()
	for bad, want := range map[string]string{
		`{"payload":"\ud800"}`:               `lone surrogate, \ud800, which is half of a character, at /payload.`,
		"{\"payload\":{\"k\":\"\xc3\x28\"}}": "is not UTF-8 at /payload/k.",
		`{"delay":"1h","delay":"2h"}`:        "has a name twice at /delay.",
		`7`:                                  "must be one JSON object.",
	} {
		timers, err := splitBatch([]byte(`{"timers":[{"delay":"1h"},` + bad + `,{"delay":"2h"}]}`))
		require.NoError(t, err, bad)
		require.Len(t, timers, 3, bad)
		_, err = parseObject(timers[1])
		require.Contains(t, problemOf(err).Detail, want)
		for _, good := range []int{0, 2} {
			_, err = parseObject(timers[good])
			require.NoError(t, err)
		}
	}
	for body, want := range map[string]string{
		`{"timers":[{}],"timers":[{}]}`: "The body has a name twice at /timers.",
		`{"timers":[{},]}`:              "The body is not valid JSON at /timers.",
		`{"timers":[{}]}{}`:             "The body must be one JSON object.",
	} {
		_, err := splitBatch([]byte(body))
		require.Equal(t, want, problemOf(err).Detail, body)
	}
}

// An item of a dispatch that holds half of a character is said to.
func TestUnreadableItems(t *testing.T) {
	t.Parallel()
	_, errs := readItem([]byte(`{"id":"1","payload":{"a":"\udead"}}`))
	require.Len(t, errs, 1)
	require.Contains(t, errs[0].Detail, `a lone surrogate, \udead, which is half of a character, at /payload/a`)
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"3": 3, "3.0": 3, "3.000": 3, "30e-1": 3, "0.3e1": 3, "1e2": 100, "1E+2": 100, "100e-2": 1, "0": 0, "-0": 0, "0.0": 0, "0e99999999999999999999": 0,
		"-3.0": -3, "9223372036854775807": 1<<63 - 1, "9223372036854775807.0": 1<<63 - 1, "-9223372036854775808": -1 << 63, "1e18": 1e18,
		"0.00000000000000000001e20": 1, "1e0000000000000000000000002": 100,
	} {
		got, ok := integer([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"3.5", "3.0000000000000000000001", "1e-1", "9223372036854775808", "1e19", "1e99999999999999999999", `"3"`, "", "03", "1.", ".5", "+1", "0x10", "1e", "NaN",
	} {
		_, ok := integer([]byte(text))
		require.False(t, ok, text)
	}
}

// Every integer of every body is of the one type for which it does not matter how a number is
// written.
func TestIntegersAreReadAlike(t *testing.T) {
	t.Parallel()
	var integers []string
	var look func(at string, of reflect.Type)
	look = func(at string, of reflect.Type) {
		switch kind := of.Kind(); {
		case of == reflect.TypeFor[int]():
			integers = append(integers, at)
		case reflect.PointerTo(of).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		case kind >= reflect.Int && kind <= reflect.Uint64:
			require.Fail(t, "it would refuse 3.0", "%s is %s", at, of)
		case kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Map:
			if of != rawType {
				look(at, of.Elem())
			}
		case kind == reflect.Struct:
			for name, field := range fieldsOf(reflect.New(of).Elem()) {
				look(at+"/"+name, field.Type())
			}
		}
	}
	for _, body := range []any{
		timerBody{}, termsBody{}, bulkBody{}, nackBody{}, dispatchBody{}, itemBody{}, emergencyBody{}, policyBody{}, previewBody{},
		pauseBody{}, answerBody{},
	} {
		look(reflect.TypeOf(body).Name(), reflect.TypeOf(body))
	}
	require.Contains(t, integers, "policyBody/limits/in_flight", "it sees them")
	require.Contains(t, integers, "timerBody/priority")
}

// Each call takes a whole number however it is written, and refuses a zero however that is.
func TestIntegersInBodies(t *testing.T) {
	t.Parallel()
	read := func(body string) object {
		members, err := parseObject([]byte(body))
		require.NoError(t, err)
		return members
	}
	request, err := readBooking(read(`{"business_type":"a","business_id":"1","delay":"1h","priority":3.0,"retry":{"initial":"1s","max_attempts":1e1}}`), delivery.Reach{})
	require.NoError(t, err)
	require.Equal(t, 3, *request.Terms.Priority)
	require.Equal(t, 10, request.Terms.Retry.MaxAttempts)
	change, err := readPolicy(read(`{"callback":{"url":"https://h/"},"priority":2.0,"limits":{"in_flight":1e2,"pending":1e6}}`), "a", delivery.Reach{}, policy.Policy{})
	require.NoError(t, err)
	require.Equal(t, 100, change.Policy.Limits.InFlight)
	require.Equal(t, 1_000_000, *change.Policy.Limits.Pending)
	order, err := readOrder(read(`{"business_type":"a","business_id":"1","per_second":1,"page_size":1e2,"callback_per":"page","items":[{"id":"1"}]}`), delivery.Reach{})
	require.NoError(t, err)
	require.Equal(t, 100, order.PageSize)
	_, err = readBooking(read(`{"business_type":"a","business_id":"1","delay":"1h","priority":0.0}`), delivery.Reach{})
	require.Equal(t, []string{"/priority"}, pointersOf(t, err))
	_, err = readPolicy(read(`{"callback":{"url":"https://h/"},"limits":{"in_flight":0e0}}`), "a", delivery.Reach{}, policy.Policy{})
	require.Equal(t, []string{"/limits/in_flight"}, pointersOf(t, err))
	_, err = readBooking(read(`{"business_type":"a","business_id":"1","delay":"1h","priority":2.5}`), delivery.Reach{})
	require.Equal(t, []string{"/priority"}, pointersOf(t, err))
}

// Every list, and every object of free names, that a body may hold has a bound of its own:
// it is counted before anything is built of it.
func TestEveryListIsBounded(t *testing.T) {
	t.Parallel()
	var unbounded []string
	seen := 0
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		for name, field := range fieldsOf(reflect.New(of).Elem()) {
			within := field.Type()
			if within.Kind() == reflect.Pointer {
				within = within.Elem()
			}
			switch {
			case within == rawType:
			case within.Kind() == reflect.Struct:
				look(within)
			case within.Kind() == reflect.Slice, within.Kind() == reflect.Map:
				seen++
				if _, bounded := fields.Lists()[name]; !bounded {
					unbounded = append(unbounded, name)
				}
			}
		}
	}
	for _, body := range []any{
		timerBody{}, policyBody{}, dispatchBody{}, itemBody{}, bulkBody{}, emergencyBody{}, previewBody{}, nackBody{}, answerBody{}, pauseBody{},
	} {
		look(reflect.TypeOf(body))
	}
	require.Empty(t, unbounded)
	require.Greater(t, seen, 15, "the oracle sees lists")
}

// A list that is too long is refused as that, whatever stands in it, also at its bound.
func TestLengthsComeBeforeElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ form, entry, pointer string }{
		{`{"retry":{"steps":[%]}}`, "1", "/retry/steps"},
		{`{"recurrence":{"crons":[%]}}`, "1", "/recurrence/crons"},
		{`{"recurrence":{"cron":"* * * * *","exclude":[%]}}`, "1", "/recurrence/exclude"},
		{`{"recurrence":{"at":[%]}}`, "1", "/recurrence/at"},
		{`{"recurrence":{"before":[%]}}`, "1", "/recurrence/before"},
		{`{"callback":{"headers":{%}}}`, `"#":1`, "/callback/headers"},
		{`{"labels":{%}}`, `"#":1`, "/labels"},
	} {
		members, err := parseObject([]byte(filled(c.form, c.entry, 5000)))
		require.NoError(t, err)
		_, err = readBooking(members, delivery.Reach{})
		var below []string
		for _, fieldErr := range problemOf(err).Errors {
			if strings.HasPrefix(fieldErr.Pointer, c.pointer) {
				below = append(below, fieldErr.Pointer+" "+string(fieldErr.Code))
			}
		}
		require.Equal(t, []string{c.pointer + " " + string(wire.CodeTooLarge)}, below, c.form)
	}
}

// A text is refused exactly where the library's own reading, which builds a table of
// names, refuses it.
func FuzzSyntax(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"\u0061":2}`, `{"a":{"b":[{"c":1},{"c":2}]},"b":{}}`, "{\"\xff\":\"\\ud800\"}", `{"a":"\ud83d\ude00"}`, `{"a":1}{}`, `[[{"":{"":0,"":1}}]]`, `"x"`, ``, ` `, `{"a":1,"a"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := checkSyntax(text)
		if err != nil {
			requireRefusal(t, err)
		}
		strict := json.Unmarshal(text, new(jsontext.Value))
		if !isDeep(text, wire.MaxNesting) {
			require.Equal(t, strict == nil, err == nil, "%v and %v", strict, err)
		}
		if err != nil {
			return
		}
		members, more, err := membersOf(text, maxMembers)
		require.NoError(t, err)
		if jsontext.Value(bytes.TrimSpace(text)).Kind() == '{' && !more {
			var want map[string]jsontext.Value
			require.NoError(t, json.Unmarshal(text, &want))
			require.Equal(t, want, map[string]jsontext.Value(members))
		}
	})
}

// An integer is what exact arithmetic says it is.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{"3.0", "1e2", "-0.30e1", "9223372036854775807", "1e-9", "0e5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		number, ok := integer([]byte(text))
		if len(text) > 40 || strings.Contains(strings.TrimLeft(strings.ToLower(text), "-.0123456789"), "e") && len(text) > 12 {
			return // exact arithmetic takes too long
		}
		if !jsontext.Value(text).IsValid() || jsontext.Value(text).Kind() != '0' {
			require.False(t, ok)
			return
		}
		exact, read := new(big.Rat).SetString(strings.TrimSpace(text))
		if !read || exact.Num().BitLen() > 1000 {
			return
		}
		require.Equal(t, exact.IsInt() && exact.Num().IsInt64(), ok, text)
		if ok {
			require.Equal(t, exact.Num().Int64(), int64(number), text)
		}
	})
}
