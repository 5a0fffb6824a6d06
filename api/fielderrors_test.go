package api

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/jobs"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
)

// One answer names every field error, each once, and none that is only there because
// another value could not be read.
func TestFieldErrorsOfABody(t *testing.T) {
	private := delivery.Reach{Address: func(addr netip.Addr) bool { return !addr.IsPrivate() }}
	old := policy.Policy{Alert: &delivery.Alert{Destination: delivery.HTTP("http://10.0.0.9/")}}
	booking := func(o decode.Object) error { _, err := timers.ReadBooking(o, private); return err }
	amendment := func(o decode.Object) error {
		_, err := timers.ReadAmendment(o, wire.Key{BusinessType: "order", BusinessID: "1"}, private)
		return err
	}
	policy := func(o decode.Object) error { _, err := policies.Read(o, "order", private, policy.Policy{}); return err }
	patched := func(o decode.Object) error { _, err := policies.Read(o, "order", private, old); return err }
	order := func(o decode.Object) error { _, err := jobs.ReadBulk(o, private); return err }
	for name, c := range map[string]struct {
		read     func(decode.Object) error
		body     string
		pointers []string
	}{
		"all at once": {booking, `{"business_type":"A","business_id":5,"delay":"1h","priority":9}`,
			[]string{"/business_id", "/business_type", "/priority"}},
		"a value is named once": {booking, `{"business_type":"order","business_id":"1","delay":"soon","priority":"high"}`,
			[]string{"/delay", "/priority"}},
		"nothing below what could not be read":   {policy, `{"callback":{"url":"https://h/"},"retry":"often"}`, []string{"/retry"}},
		"nothing is missed beside it":            {booking, `{"business_type":"order","business_id":"1","retry":{"steps":"1s"},"recurrence":{"cron":1}}`, []string{"/recurrence/cron", "/retry/steps"}},
		"it is beside what was read":             {booking, `{"business_type":"order","business_id":"1","payload_base64":"!","recurrence":{}}`, []string{"/payload_base64", "/recurrence/cron"}},
		"but elsewhere it is":                    {policy, `{"priority":"high","alert":{}}`, []string{"/priority", "/alert/url"}},
		"and beside what was not understood":     {policy, `{"callback":{"uri":"https://h/"},"alert":{"uri":"https://h/"}}`, []string{"/alert/uri", "/callback/uri", "/alert/url"}},
		"an address nobody may call, of a timer": {booking, `{"business_type":"order","business_id":"1","delay":"1h","callback":{"url":"http://10.0.0.1/"},"retry":{"initial":"1s","max_attempts":"x"}}`, []string{"/retry/max_attempts", "/callback/url"}},
		"of a change":                            {amendment, `{"callback":{"url":"http://10.0.0.1/"},"priority":"x"}`, []string{"/priority", "/callback/url"}},
		"of a policy":                            {policy, `{"callback":{"url":"http://10.0.0.1/"},"alert":{"url":"http://10.0.0.2/"},"retry":{"initial":"1s","max_attempts":"x"}}`, []string{"/retry/max_attempts", "/callback/url", "/alert/url"}},
		"but not one that it has already":        {patched, `{"callback":{"url":"https://h/"},"alert":{"url":"http://10.0.0.9/"},"retry":{"initial":"1s","max_attempts":"x"}}`, []string{"/retry/max_attempts"}},
		"a name with a slash":                    {policy, `{"callback":{"url":"https://h/","headers":{"a/b~c":1}}}`, []string{"/callback/headers/a~1b~0c"}},
		"an order":                               {order, `{"operation":"redeliver","filter":{"business_type":1},"per_second":0}`, []string{"/filter/business_type", "/per_second"}},
	} {
		t.Run(name, func(t *testing.T) {
			members, err := decode.Parse([]byte(c.body))
			require.NoError(t, err)
			refused, ok := errors.AsType[*wire.Error](c.read(members))
			require.True(t, ok)
			var pointers []string
			for _, fieldErr := range refused.FieldErrors {
				pointers = append(pointers, fieldErr.Pointer)
			}
			require.Equal(t, c.pointers, pointers)
		})
	}
}

// whole are bodies that are taken, by the call that reads them. Together they have every field but the
// certificates.
var whole = map[string][]string{
	"booking": {
		`{"business_type":"order","business_id":"1","delay":"1h","max_wait":"2h","expires_after":"5m","payload":1,"priority":2,"labels":{"a":"b"},"paused":true,
		  "callback":{"broker":"main","exchange":"e","routing_key":"k","timeout":"5s","headers":{"X-A":"b"}},"retry":{"steps":["1s","2s"],"jitter":0.1},
		  "on_delivered":{"url":"https://h/"},"on_failed":{"broker":"main","exchange":"e"}}`,
		`{"business_type":"order","business_id":"1","due_local":"2030-01-01T09:00","timezone":"Europe/Berlin","latest_at":"2030-01-02T09:00:00Z",
		  "payload_base64":"AA==","content_type":"a/b","retry":{"initial":"1s","multiplier":2,"max_interval":"1m","max_attempts":5,"jitter":0.1}}`,
		`{"business_type":"order","business_id":"1","due_at":"2030-01-01T09:00:00Z"}`,
		`{"business_type":"order","business_id":"1","recurrence":{"cron":"0 30 9 * * MON-FRI","seconds":true,"timezone":"Europe/Berlin","jitter":"1s",
		  "start_at":"2030-01-01T00:00:00Z","end_at":"2031-01-01T00:00:00Z","max_occurrences":5,"exclude":["2030-12-25","* 12 * * *"],"missed":"skip",
		  "on_failure":"pause","paused":true}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"every":"15m","offset":"2m","initial_delay":"1m","jitter":"1m"}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"crons":["0 0 9 ? * MON-FRI","0 0 18 ? * SAT"],"dialect":"quartz"}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"cron":"0 0 9 ? * 2","dialect":"quartz"}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"after":"10m","missed":"fire_once"}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"at":["2030-01-01T00:00:00Z"]}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"before":["24h","1h"],"due_local":"2030-01-01T09:00","timezone":"Europe/Berlin"}}`,
		`{"business_type":"order","business_id":"1","recurrence":{"before":["1h"],"due_at":"2030-01-01T09:00:00Z"}}`,
	},
	"amendment": {`{"business_type":"order","business_id":"1","delay":"1h"}`},
	"policy": {
		`{"business_type":"order","callback":{"broker":"main","exchange":"e","routing_key":"k","timeout":"5s","headers":{"X-A":"b"}},
		  "declare":{"exchange_type":"topic","queue":"q","queue_type":"quorum"},"expires_after":"24h","secret_overlap":"24h",
		  "retry":{"initial":"1s","multiplier":2,"max_interval":"1m","max_attempts":5,"jitter":0.1},"signing_secrets":["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
		  "limits":{"adds_per_second":5,"adds_burst":6,"callbacks_per_second":10,"in_flight":5,"pending":100},"priority":2,"paused":true,"discard_answers":true,
		  "alert":{"url":"https://h/"},"on_delivered":{"broker":"main","routing_key":"k"},"on_failed":{"url":"https://h/"},
		  "fallback":{"url":"https://b/","after":"1m","timeout":"1s","headers":{"X-A":"b"}},"min_interval":"1m","on_time":"1s","preload":"2s",
		  "reuse":"after_end","ack":{"within":"10m"},"max_back_pressure":"1h"}`,
		`{"callback":{"broker":"main","routing_key":"k"},"declare":{"queue":"k"},"fallback":{"broker":"main"}}`,
		`{"callback":{"broker":"main"},"fallback":{"broker":"main","routing_key":"k"}}`,
		`{"callback":{"broker":"main","exchange":"e"},"declare":{"exchange_type":"topic"},"fallback":{"stream":true}}`,
		`{"callback":{"stream":true},"fallback":{"broker":"main","exchange":"e"}}`,
		`{"callback":{"url":"https://h/","headers":{"X-A":"b"}},"fallback":{"stream":true}}`,
	},
	"bulk": {
		`{"id":"x","operation":"edit","dry_run":true,"per_second":5,"edit":{"payload_base64":"AA==","content_type":"a/b"},
		  "filter":{"business_type":"order","business_id":"1","status":"scheduled","labels":{"a":"b"},"recurring":true,"due_from":"2030-01-01T00:00:00Z","due_to":"2031-01-01T00:00:00Z"}}`,
		`{"operation":"edit","filter":{},"edit":{"priority":2}}`,
		`{"operation":"edit","filter":{},"edit":{"callback":{"broker":"main","exchange":"e"}}}`,
		`{"operation":"move","filter":{},"shift":"2h","counted":"c"}`,
		`{"operation":"redeliver","filter":{"status":"failed","ended_from":"2026-01-01T00:00:00Z","ended_to":"2026-02-01T00:00:00Z"}}`,
	},
	"dispatch": {
		`{"business_type":"order","business_id":"1","per_second":5,"due_at":"2030-01-01T00:00:00Z","latest_at":"2030-01-02T00:00:00Z","warm_up":"1m",
		  "callback_per":"page","page_size":10,"callback":{"url":"https://h/","headers":{"X-A":"b"}},"retry":{"steps":["1s"]},"items":[{"id":"a","payload":1}]}`,
		`{"business_type":"order","business_id":"1","per_second":5,"delay":"1h","upload":true,"callback":{"broker":"main","exchange":"e"}}`,
		`{"business_type":"order","business_id":"1","per_second":5,"recurrence":{"every":"1h","offset":"2m"},
		  "loader":{"url":"https://h/","shards":2,"page_size":10,"timeout":"5s"}}`,
	},
}

// misread is a body of which one value cannot be read.
type misread struct{ pointer, body string }

// misreadings puts a value of another kind, and null, in the place of each value of a body. A payload may be
// anything.
func misreadings(t *testing.T, body string) (all []misread) {
	t.Helper()
	var root any
	require.NoError(t, json.Unmarshal([]byte(body), &root))
	var walk func(pointer string, value any, put func(any))
	walk = func(pointer string, value any, put func(any)) {
		other := any(5)
		switch of := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(of)) {
				if name != "payload" {
					walk(pointer+"/"+name, of[name], func(in any) { of[name] = in })
				}
			}
		case []any:
			for i := range of {
				walk(pointer+"/"+strconv.Itoa(i), of[i], func(in any) { of[i] = in })
			}
		case float64, bool:
			other = "x"
		}
		if pointer == "" {
			return
		}
		for _, wrong := range []any{other, nil} {
			put(wrong)
			text, err := json.Marshal(root)
			require.NoError(t, err)
			all = append(all, misread{pointer, string(text)})
		}
		put(value)
	}
	walk("", root, nil)
	return all
}

// One value that cannot be read is one complaint, whatever other fields say beside it.
func TestOneUnreadableValueIsOneComplaint(t *testing.T) {
	t.Parallel()
	reach, key := delivery.Reach{Brokers: []string{"main"}}, wire.Key{BusinessType: "order", BusinessID: "1"}
	reads := map[string]func(decode.Object) error{
		"booking":   func(o decode.Object) error { _, err := timers.ReadBooking(o, reach); return err },
		"amendment": func(o decode.Object) error { _, err := timers.ReadAmendment(o, key, reach); return err },
		"policy":    func(o decode.Object) error { _, err := policies.Read(o, "order", reach, policy.Policy{}); return err },
		"bulk":      func(o decode.Object) error { _, err := jobs.ReadBulk(o, reach); return err },
		"dispatch":  func(o decode.Object) error { _, err := dispatches.ReadOrder(o, reach); return err },
	}
	named := func(call, body string) []string {
		members, err := decode.Parse([]byte(body))
		require.NoError(t, err, body)
		return apitest.Pointers(t, reads[call](members))
	}
	tried := 0
	for call, bodies := range whole {
		for _, body := range bodies {
			require.Empty(t, named(call, body), "it is taken: %s", body)
			for _, one := range misreadings(t, body) {
				require.Equal(t, []string{one.pointer}, named(call, one.body), "%s %s", call, one.body)
				tried++
			}
		}
	}
	require.Greater(t, tried, 300)
	// The control: what is wrong by itself is named beside it, and so is what was given twice over.
	for body, want := range map[string][]string{
		`{"business_type":"order","business_id":"1","max_wait":"2h","priority":"x"}`:                                 {"/priority", "/max_wait"},
		`{"business_type":"order","business_id":"1","due_at":5,"delay":"1h"}`:                                        {"/due_at", "/delay"},
		`{"business_type":"order","business_id":"1","recurrence":{"every":"1m","offset":"2m","missed":5}}`:           {"/recurrence/missed", "/recurrence/offset"},
		`{"business_type":"order","business_id":"1","delay":"1h","callback":{"exchange":"e","timeout":5}}`:           {"/callback/timeout", "/callback/exchange"},
		`{"business_type":"order","business_id":"1","delay":"1h","payload":1,"payload_base64":"!","content_type":5}`: {"/content_type", "/payload_base64"},
	} {
		require.Equal(t, want, named("booking", body), body)
	}
	for body, want := range map[string][]string{
		`{"callback":{"url":"https://h/"},"tls":{"ca":5}}`:                                                        {"/tls/ca"},
		`{"callback":{"url":"https://h/"},"tls":{},"priority":"x"}`:                                               {"/priority", "/tls"},
		`{"callback":5,"declare":{"exchange_type":"topic"},"fallback":{"url":"https://b/"},"priority":9}`:         {"/callback", "/priority"},
		`{"callback":{"broker":"main","routing_key":5},"fallback":{"broker":"main"},"declare":{"queue":"other"}}`: {"/callback/routing_key"},
	} {
		require.Equal(t, want, named("policy", body), body)
	}
	require.Equal(t, []string{"/edit/unknown"}, named("bulk", `{"operation":"edit","filter":{},"edit":{"unknown":1}}`))
	require.Equal(t, []string{"/filter/due_from"}, named("bulk", `{"operation":"fire","filter":{"due_from":""}}`))
}

// The same holds for the calls whose bodies only a gateway reads.
func TestOneUnreadableValueOfACallIsOneComplaint(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{Emergencies: pausing{asked: new([]policy.EmergencyOrder)}, Policies: pausedPolicies{}})
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{"/v1/emergency/pause", `{"everything":"yes"}`, []string{"/everything"}},
		{"/v1/emergency/pause", `{"everything":null,"note":"n"}`, []string{"/everything"}},
		{"/v1/emergency/resume", `{"everything":1}`, []string{"/everything"}},
		{"/v1/emergency/pause", `{"everything":true,"business_types":5}`, []string{"/business_types"}},
		{"/v1/emergency/pause", `{"business_types":["a",5]}`, []string{"/business_types/1"}},
		{"/v1/emergency/pause", `{"note":5}`, []string{"/note", "/business_types"}}, // the control
		{"/v1/streams/order/answers", `{"ack":"1","reason":5}`, []string{"/reason"}},
		{"/v1/streams/order/answers", `{"ack":"1","delay":"9999h"}`, []string{"/delay"}},
		{"/v1/streams/order/answers", `{"ack":"1","nack":"1","reason":"r"}`, []string{"/ack"}},
		{"/v1/streams/order/answers", `{"ack":"1","reason":"r","stop":5}`, []string{"/stop", "/reason"}}, // the control
	} {
		_, bodies := f.say(http.MethodPost, "POST "+c.path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
			"Content-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(c.body))+"\r\n\r\n"+c.body)
		var document problem.Document
		require.NoError(t, json.Unmarshal([]byte(bodies[0]), &document), bodies[0])
		var pointers []string
		for _, fieldErr := range document.Errors {
			pointers = append(pointers, fieldErr.Pointer)
		}
		require.Equal(t, c.want, pointers, "%s %s", c.path, c.body)
	}
}
