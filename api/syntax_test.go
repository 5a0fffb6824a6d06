package api

import (
	"encoding"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/deliveries"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/emergencies"
	"github.com/wakecall/wakecall/api/jobs"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/fields"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

var rawType = reflect.TypeFor[jsontext.Value]()

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
			for name, field := range decode.Fields(reflect.New(of).Elem()) {
				look(at+"/"+name, field.Type())
			}
		}
	}
	for _, body := range []any{
		timers.Body{}, timers.TermsBody{}, jobs.BulkBody{}, deliveries.NackBody{}, dispatches.Body{}, dispatches.ItemBody{}, emergencies.Body{}, policies.Body{}, timers.PreviewBody{},
		timers.PauseBody{}, streams.AnswerBody{},
	} {
		look(reflect.TypeOf(body).String(), reflect.TypeOf(body))
	}
	require.Contains(t, integers, "policies.Body/limits/in_flight", "it sees them")
	require.Contains(t, integers, "timers.Body/priority")
}

// Each call takes a whole number however it is written, and refuses a zero however that is.
func TestIntegersInBodies(t *testing.T) {
	t.Parallel()
	read := func(body string) decode.Object {
		members, err := decode.Parse([]byte(body))
		require.NoError(t, err)
		return members
	}
	request, err := timers.ReadBooking(read(`{"business_type":"a","business_id":"1","delay":"1h","priority":3.0,"retry":{"initial":"1s","max_attempts":1e1}}`), delivery.Reach{})
	require.NoError(t, err)
	require.Equal(t, 3, *request.Terms.Priority)
	require.Equal(t, 10, request.Terms.Retry.MaxAttempts)
	change, err := policies.Read(read(`{"callback":{"url":"https://h/"},"priority":2.0,"limits":{"in_flight":1e2,"pending":1e6}}`), "a", delivery.Reach{}, policy.Policy{})
	require.NoError(t, err)
	require.Equal(t, 100, change.Policy.Limits.InFlight)
	require.Equal(t, 1_000_000, *change.Policy.Limits.Pending)
	order, err := dispatches.ReadOrder(read(`{"business_type":"a","business_id":"1","per_second":1,"page_size":1e2,"callback_per":"page","items":[{"id":"1"}]}`), delivery.Reach{})
	require.NoError(t, err)
	require.Equal(t, 100, order.PageSize)
	_, err = timers.ReadBooking(read(`{"business_type":"a","business_id":"1","delay":"1h","priority":0.0}`), delivery.Reach{})
	require.Equal(t, []string{"/priority"}, apitest.Pointers(t, err))
	_, err = policies.Read(read(`{"callback":{"url":"https://h/"},"limits":{"in_flight":0e0}}`), "a", delivery.Reach{}, policy.Policy{})
	require.Equal(t, []string{"/limits/in_flight"}, apitest.Pointers(t, err))
	_, err = timers.ReadBooking(read(`{"business_type":"a","business_id":"1","delay":"1h","priority":2.5}`), delivery.Reach{})
	require.Equal(t, []string{"/priority"}, apitest.Pointers(t, err))
}

// A rate of 0 holds everything back, so no other number is read as 0.
func TestRatesThatAreNearlyNothing(t *testing.T) {
	t.Parallel()
	for number, refused := range map[string]bool{
		"0": false, "0e-400": false, "0.001": false, "1e-400": true, "-1e-400": true, "0.0009": true,
	} {
		for _, field := range []string{"callbacks_per_second", "adds_per_second"} {
			members, err := decode.Parse([]byte(`{"callback":{"url":"https://h/"},"limits":{"` + field + `":` + number + `}}`))
			require.NoError(t, err)
			change, err := policies.Read(members, "a", delivery.Reach{}, policy.Policy{})
			require.NoError(t, err)
			require.Equal(t, refused, len(change.Policy.Check()) > 0, "%s %s", field, number)
		}
	}
}

// Every list, and every object of free names, that a body may hold has a bound of its own:
// it is counted before anything is built of it.
func TestEveryListIsBounded(t *testing.T) {
	t.Parallel()
	var unbounded []string
	seen := 0
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		for name, field := range decode.Fields(reflect.New(of).Elem()) {
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
		timers.Body{}, policies.Body{}, dispatches.Body{}, dispatches.ItemBody{}, jobs.BulkBody{}, emergencies.Body{}, timers.PreviewBody{}, deliveries.NackBody{}, streams.AnswerBody{}, timers.PauseBody{},
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
		members, err := decode.Parse([]byte(filled(c.form, c.entry, 5000)))
		require.NoError(t, err)
		_, err = timers.ReadBooking(members, delivery.Reach{})
		var below []string
		for _, fieldErr := range problems.DocumentOf(err).Errors {
			if strings.HasPrefix(fieldErr.Pointer, c.pointer) {
				below = append(below, fieldErr.Pointer+" "+string(fieldErr.Code))
			}
		}
		require.Equal(t, []string{c.pointer + " " + string(wire.CodeTooLarge)}, below, c.form)
	}
}
