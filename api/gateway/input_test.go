package gateway_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

// refusal is a request that must be refused, with the required content of the answer.
type refusal struct {
	name    string
	body    string
	status  int
	problem string
	pointer string
}

const (
	malformed = "urn:wakecall:problem:malformed-request"
	invalid   = "urn:wakecall:problem:invalid-request"
)

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// bodies of POST /v1/timers; TYPE stands for the test's business type.
var refusals = []refusal{
	{"empty", ``, 400, malformed, ""},
	{"null", `null`, 400, malformed, ""},
	{"array", `[]`, 400, malformed, ""},
	{"text", `"x"`, 400, malformed, ""},
	{"truncated", `{"business_type":"TYPE"`, 400, malformed, ""},
	{"trailing data", `{"business_type":"TYPE","business_id":"x","delay":"1s"} {}`, 400, malformed, ""},
	{"duplicate key", `{"business_type":"TYPE","business_id":"x","delay":"1s","delay":"9s"}`, 400, malformed, ""},
	{"duplicate key within", `{"business_type":"TYPE","business_id":"x","delay":"1s","payload":{"a":1,"a":2}}`, 400, malformed, ""},
	{"invalid UTF-8", "{\"business_type\":\"TYPE\",\"business_id\":\"\xff\",\"delay\":\"1s\"}", 400, malformed, ""},
	{"byte order mark", "\ufeff{}", 400, malformed, ""},
	{"unknown field", `{"business_type":"TYPE","business_id":"x","delay":"1s","dealy":"1s"}`, 422, invalid, "/dealy"},
	{"other case", `{"business_type":"TYPE","business_id":"x","Delay":"1s"}`, 422, invalid, "/Delay"},
	{"null value", `{"business_type":"TYPE","business_id":"x","delay":null}`, 422, invalid, "/delay"},
	{"number for a duration", `{"business_type":"TYPE","business_id":"x","delay":5}`, 422, invalid, "/delay"},
	{"text for a number", `{"business_type":"TYPE","business_id":"x","delay":"1s","priority":"1"}`, 422, invalid, "/priority"},
	{"fraction for a number", `{"business_type":"TYPE","business_id":"x","delay":"1s","priority":1.5}`, 422, invalid, "/priority"},
	{"no time", `{"business_type":"TYPE","business_id":"x"}`, 422, invalid, "/due_at"},
	{"two times", `{"business_type":"TYPE","business_id":"x","delay":"1s","due_at":"2026-12-01T00:00:00Z"}`, 422, invalid, "/delay"},
	{"local time without a zone", `{"business_type":"TYPE","business_id":"x","due_local":"2030-01-01T09:00"}`, 422, invalid, "/timezone"},
	{"local time with an offset", `{"business_type":"TYPE","business_id":"x","due_local":"2030-01-01T09:00Z","timezone":"UTC"}`, 422, invalid, "/due_local"},
	{"local time of nowhere", `{"business_type":"TYPE","business_id":"x","due_local":"2030-01-01T09:00","timezone":"Mars/Olympus"}`, 422, invalid, "/timezone"},
	{"empty zone", `{"business_type":"TYPE","business_id":"x","due_local":"2030-01-01T09:00","timezone":""}`, 422, invalid, "/timezone"},
	{"negative delay", `{"business_type":"TYPE","business_id":"x","delay":"-1s"}`, 422, invalid, "/delay"},
	{"long past", `{"business_type":"TYPE","business_id":"x","due_at":"2001-01-01T00:00:00Z"}`, 422, invalid, "/due_at"},
	{"year 2400", `{"business_type":"TYPE","business_id":"x","due_at":"2400-01-01T00:00:00Z"}`, 422, invalid, "/due_at"},
	{"year 10000", `{"business_type":"TYPE","business_id":"x","due_at":"10000-01-01T00:00:00Z"}`, 422, invalid, "/due_at"},
	{"leap second", `{"business_type":"TYPE","business_id":"x","due_at":"2026-12-31T23:59:60Z"}`, 422, invalid, "/due_at"},
	{"not a time", `{"business_type":"TYPE","business_id":"x","due_at":"tomorrow"}`, 422, invalid, "/due_at"},
	{"endless delay", `{"business_type":"TYPE","business_id":"x","delay":"9223372036854775807ns"}`, 422, invalid, "/delay"},
	{"overflowing delay", `{"business_type":"TYPE","business_id":"x","delay":"9999999999h"}`, 422, invalid, "/delay"},
	{"no type", `{"business_id":"x","delay":"1s"}`, 422, invalid, "/business_type"},
	{"upper-case type", `{"business_type":"Order","business_id":"x","delay":"1s"}`, 422, invalid, "/business_type"},
	{"type as path", `{"business_type":"../x","business_id":"x","delay":"1s"}`, 422, invalid, "/business_type"},
	{"no id", `{"business_type":"TYPE","delay":"1s"}`, 422, invalid, "/business_id"},
	{"id with space", `{"business_type":"TYPE","business_id":"a b","delay":"1s"}`, 422, invalid, "/business_id"},
	{"id with slash", `{"business_type":"TYPE","business_id":"a/b","delay":"1s"}`, 422, invalid, "/business_id"},
	{"id with NUL", `{"business_type":"TYPE","business_id":"a\u0000","delay":"1s"}`, 422, invalid, "/business_id"},
	{"id not ASCII", `{"business_type":"TYPE","business_id":"é","delay":"1s"}`, 422, invalid, "/business_id"},
	{"id too long", `{"business_type":"TYPE","business_id":"` + strings.Repeat("x", 129) + `","delay":"1s"}`, 422, invalid, "/business_id"},
	{"latest before due", `{"business_type":"TYPE","business_id":"x","due_at":"2031-01-01T00:00:00Z","latest_at":"2030-01-01T00:00:00Z"}`, 422, invalid, "/latest_at"},
	{"two latest", `{"business_type":"TYPE","business_id":"x","delay":"1s","latest_at":"2030-01-01T00:00:00Z","expires_after":"1s"}`, 422, invalid, "/expires_after"},
	{"payload and base64", `{"business_type":"TYPE","business_id":"x","delay":"1s","payload":1,"payload_base64":"AA=="}`, 422, invalid, "/payload_base64"},
	{"bad base64", `{"business_type":"TYPE","business_id":"x","delay":"1s","payload_base64":"A","content_type":"a/b"}`, 422, invalid, "/payload_base64"},
	{"base64 without type", `{"business_type":"TYPE","business_id":"x","delay":"1s","payload_base64":"AA=="}`, 422, invalid, "/content_type"},
	{"type without base64", `{"business_type":"TYPE","business_id":"x","delay":"1s","content_type":"a/b"}`, 422, invalid, "/content_type"},
	{"payload too large", `{"business_type":"TYPE","business_id":"x","delay":"1s","payload":"` + strings.Repeat("x", 65<<10) + `"}`, 422, invalid, "/payload"},
	{"priority", `{"business_type":"TYPE","business_id":"x","delay":"1s","priority":6}`, 422, invalid, "/priority"},
	{"callback file", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":{"url":"file:///etc/passwd"}}`, 422, invalid, "/callback/url"},
	{"callback userinfo", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":{"url":"https://u:p@h/"}}`, 422, invalid, "/callback/url"},
	{"callback port 0", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":{"url":"https://h:0/"}}`, 422, invalid, "/callback/url"},
	{"callback field", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":{"uri":"https://h/"}}`, 422, invalid, "/callback/uri"},
	{"callback text", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":"https://h/"}`, 422, invalid, "/callback"},
	{"callback header", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":{"url":"https://h/","headers":{"Host":"x"}}}`, 422, invalid, "/callback/headers/Host"},
	{"callback timeout", `{"business_type":"TYPE","business_id":"x","delay":"1s","callback":{"url":"https://h/","timeout":"1h"}}`, 422, invalid, "/callback/timeout"},
	{"retry empty", `{"business_type":"TYPE","business_id":"x","delay":"1s","retry":{}}`, 422, invalid, "/retry/initial"},
	{"retry step", `{"business_type":"TYPE","business_id":"x","delay":"1s","retry":{"steps":["1s","soon"]}}`, 422, invalid, "/retry/steps/1"},
	{"retry jitter", `{"business_type":"TYPE","business_id":"x","delay":"1s","retry":{"steps":["1s"],"jitter":2}}`, 422, invalid, "/retry/jitter"},
	{"retry number", `{"business_type":"TYPE","business_id":"x","delay":"1s","retry":{"initial":"1s","multiplier":1e999}}`, 422, invalid, "/retry/multiplier"},
	{"unknown business type", `{"business_type":"TYPE","business_id":"x","delay":"1s"}`, 422, "urn:wakecall:problem:unknown-business-type", ""},
	{"body too large", `{"business_type":"TYPE","business_id":"x","delay":"1s","payload":"` + strings.Repeat("x", 10<<20) + `"}`, 413, "urn:wakecall:problem:payload-too-large", ""},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			reply := env.Do("POST", "/v1/timers", strings.ReplaceAll(c.body, "TYPE", kind))
			require.Equal(t, c.status, reply.Status, "%s", reply.Body)
			problem := reply.Problem()
			require.Equal(t, c.problem, problem.Type)
			if c.pointer != "" {
				require.Equal(t, c.pointer, problem.Errors[0].Pointer)
			}
			text := requestID.ReplaceAllString(string(reply.Body), "") // it has any letters
			for _, word := range []string{"jsontext", "goroutine", "rpc", "serviceerror", "timer."} {
				require.NotContains(t, text, word, "nothing of Go's own words reaches a caller")
			}
		})
	}
	require.Zero(t, env.Timers(kind), "a refused request starts nothing")
	env.Add(gateway.Booking(kind, "x", "1h"))
	require.Equal(t, 1, env.Timers(kind), "the oracle sees what is started")
}

func TestEveryFieldErrorInOneAnswer(t *testing.T) {
	t.Parallel()
	env, _ := gateway.Open(t)
	reply := env.Do("POST", "/v1/timers", `{"business_type":"A","business_id":"","delay":"soon","priority":9,"extra":1,"callback":{"url":"x","timeout":3}}`)
	require.Equal(t, 422, reply.Status)
	var pointers []string
	for _, fieldErr := range reply.Problem().Errors {
		pointers = append(pointers, fieldErr.Pointer)
	}
	require.ElementsMatch(t, []string{"/business_type", "/business_id", "/delay", "/priority", "/extra", "/callback/url", "/callback/timeout"}, pointers)
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	for _, c := range []struct{ contentType, encoding string }{
		{"", ""}, {"text/plain", ""}, {"application/xml", ""}, {"multipart/form-data; boundary=x", ""},
		{"application/x-www-form-urlencoded", ""}, {"application/json; charset=utf-16", ""}, {"application/json", "gzip"},
	} {
		request := env.Request("POST", "/v1/timers", gateway.Booking(kind, "x", "1h"))
		request.Header.Del("Content-Type")
		if c.contentType != "" {
			request.Header.Set("Content-Type", c.contentType)
		}
		if c.encoding != "" {
			request.Header.Set("Content-Encoding", c.encoding)
		}
		require.Equal(t, http.StatusUnsupportedMediaType, env.Send(request).Status, "%v", c)
	}
	request := env.Request("POST", "/v1/timers", gateway.Booking(kind, "x", "1h"))
	request.Header.Set("Content-Type", "application/json; charset=UTF-8")
	require.Equal(t, http.StatusCreated, env.Send(request).Status)
}

func TestPathsAndParameters(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Add(gateway.Booking(kind, "a@b", "1h"))
	for _, path := range []string{"a@b", "a%40b"} {
		require.Equal(t, "a@b", env.Get(kind+"/"+path).BusinessID, "escaped or not, it is the same timer")
	}
	for path, status := range map[string]int{
		"/v1/timers/" + kind + "/a%2540b":         422, // decoded exactly once
		"/v1/timers/" + kind + "/a%2Fb":           422,
		"/v1/timers/" + kind + "/%00":             422,
		"/v1/timers/" + kind + "/é":               422,
		"/v1/timers/A/x":                          422,
		"/v1/timers/" + kind + "/x":               404,
		"/v1/timers/" + kind + "/x?y=1":           422,
		"/v1/timers?status=lost":                  422,
		"/v1/timers?stauts=failed":                422,
		"/v1/timers?page_size=0":                  422,
		"/v1/timers?page_size=1001":               422,
		"/v1/timers?page_size=x":                  422,
		"/v1/timers?due_from=yesterday":           422,
		"/v1/timers?business_type=a'%20OR%20''='": 422,
		"/v1/timers?page_token=%25":               422,
		"/v2/timers":                              404,
		"/v1/timers/" + kind:                      404,
		"/v1/policies/" + kind:                    404,
	} {
		reply := env.Do("GET", path, nil)
		require.Equal(t, status, reply.Status, path)
		reply.Problem()
	}
	require.Equal(t, http.StatusMethodNotAllowed, env.Do("PUT", "/v1/timers", gateway.JSON{}).Status)
	require.Equal(t, 422, env.Do("DELETE", "/v1/timers/"+kind+"/a@b?wait=1h", nil).Status)
	require.Equal(t, 422, env.Do("PATCH", "/v1/timers/"+kind+"/a@b", gateway.JSON{}).Status, "a change of nothing")
	require.Equal(t, 422, env.Do("PUT", "/v1/timers/"+kind+"/a@b", gateway.Booking(kind, "other", "1h")).Status)
}
