package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

// raw is a connection to the API for hand-written requests.
type raw struct {
	net.Conn
	in *bufio.Reader
	t  *testing.T
}

func dial(t *testing.T, addr string) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{Conn: conn, in: bufio.NewReader(conn), t: t}
}

// answers reads the answers to the last request of a connection until the server hangs up.
func (r *raw) answers() (statuses []int) {
	r.t.Helper()
	for {
		response, err := http.ReadResponse(r.in, nil)
		if err != nil {
			return statuses
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		require.NoError(r.t, err)
		statuses = append(statuses, response.StatusCode)
		r.holdProblem(response, body)
	}
}

// holdProblem checks the form of a refusal. Refusals by net/http itself never reach a
// handler, and are plain text.
func (r *raw) holdProblem(response *http.Response, body []byte) {
	r.t.Helper()
	kind := response.Header.Get("Content-Type")
	if response.StatusCode < 400 || strings.HasPrefix(kind, "text/plain") || response.StatusCode == http.StatusExpectationFailed {
		return
	}
	require.Equal(r.t, "application/problem+json", kind)
	var problem gateway.Problem
	require.NoError(r.t, json.Unmarshal(body, &problem), "%s", body)
	require.Equal(r.t, response.StatusCode, problem.Status)
}

// say sends text and reads the answers. A server that refuses early may hang up before it
// has read everything.
func say(t *testing.T, addr, text string) []int {
	t.Helper()
	conn := dial(t, addr)
	_, _ = io.WriteString(conn, text)
	return conn.answers()
}

// abuse is a request below HTTP, and the allowed answers; none stands for a connection that
// is closed without one.
type abuse struct {
	text string
	want []int
}

// BOOKING stands for a request that would book a timer, if it were read as one.
var abuses = map[string]abuse{
	"options of the server":      {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{404}},
	"length and chunks":          {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nBOOKING", []int{400}},
	"chunks and length":          {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nBOOKING", []int{400}},
	"two lengths":                {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nBOOKING", []int{400}},
	"a list of lengths":          {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0, 5\r\n\r\nBOOKING", []int{400}},
	"signed length":              {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: +0\r\n\r\nBOOKING", []int{400}},
	"negative length":            {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\nBOOKING", []int{400}},
	"length in hex":              {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x0\r\n\r\nBOOKING", []int{400}},
	"length beyond 64 bits":      {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\nBOOKING", []int{400}},
	"space before colon":         {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length : 0\r\n\r\nBOOKING", []int{400}},
	"unknown coding":             {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\nBOOKING", []int{501}},
	"chunked twice":              {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, chunked\r\n\r\nBOOKING", []int{501}},
	"two codings":                {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\nBOOKING", []int{501, 400}},
	"bad chunk":                  {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nBOOKING", []int{400}},
	"endless chunk length":       {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 64<<10), []int{400}},
	"NUL in header":              {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\nBOOKING", []int{400}},
	"bare CR in header":          {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\rBOOKING\r\n\r\n", []int{400}},
	"no name":                    {"GET /livez HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n", []int{400}},
	"no host":                    {"GET /livez HTTP/1.1\r\n\r\n", []int{400}},
	"two hosts":                  {"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", []int{400}},
	"bad host":                   {"GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", []int{400}},
	"no version":                 {"GET /livez\r\n\r\n", []int{400}},
	"unknown version":            {"GET /livez HTTP/9.9\r\nHost: localhost\r\n\r\n", []int{505}},
	"HTTP/2 without TLS":         {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{505, 400, 404}},
	"noise":                      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
	"bad escape":                 {"GET /v1/timers/%zz/x HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{400}},
	"method of another world":    {"BREW /v1/timers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{405}},
	"method in lower case":       {"get /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{405}},
	"CONNECT":                    {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n", []int{403}},
	"TRACE":                      {"TRACE /v1/timers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{405}},
	"a star":                     {"GET * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{404, 400}},
	"the address of a proxy":     {"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: 169.254.169.254\r\nConnection: close\r\n\r\n", []int{403}},
	"websocket":                  {"GET /v1/timers HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n", []int{200}},
	"HTTP/1.0":                   {"GET /livez HTTP/1.0\r\n\r\n", []int{200}},
	"pipelined":                  {"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{200, 404, 200}},
	"huge header":                {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", []int{431}},
	"many headers":               {"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n", []int{431}},
	"huge path":                  {"GET /v1/timers/" + strings.Repeat("x", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{431}},
	"huge query":                 {"GET /v1/timers?" + strings.Repeat("a=b&", 1<<18) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{431}},
	"query just below the limit": {"GET /v1/timers?" + strings.Repeat("a=b&", 3<<10) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{422}},
	"body larger than allowed":   {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\nConnection: close\r\n\r\n{}", []int{413}},
	"expects to be waited for":   {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: miracles\r\nConnection: close\r\n\r\n{}", []int{417}},
}

func TestAbuseBelowHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the limits of the server")
	}
	t.Parallel()
	env, kind := gateway.Open(t)
	addr := env.Serve()
	book := func(id string) string {
		body, err := json.Marshal(gateway.Booking(kind, id, "1h"))
		require.NoError(t, err)
		return fmt.Sprintf("POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	}
	smuggled := book("smuggled")
	var atOnce sync.WaitGroup // most end by a timeout
	for name, c := range abuses {
		atOnce.Go(func() {
			got := say(t, addr, strings.ReplaceAll(c.text, "BOOKING", smuggled))
			if len(c.want) > 1 && c.want[0] != 200 {
				assert.True(t, len(got) == 1 && slices.Contains(c.want, got[0]), "%s: %v", name, got)
				return
			}
			assert.Equal(t, c.want, got, name)
		})
	}
	atOnce.Wait()
	require.Equal(t, []int{201}, say(t, addr, book("heard")))
	require.Equal(t, 1, env.Timers(kind), "the oracle sees a request that is heard, and no request within another was")
}

// A slow client is cut off, and holds up no others meanwhile.
func TestSlowClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the limits of the server")
	}
	t.Parallel()
	env, kind := gateway.Open(t)
	addr := env.Serve()
	for name, c := range map[string]struct {
		text string
		want []int
		in   time.Duration
	}{
		"silence":           {"", nil, 6 * time.Second},
		"half a header":     {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ", nil, 6 * time.Second},
		"a body that stops": {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", []int{408}, 11 * time.Second},
		"chunks that stop":  {"POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", []int{408}, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			conn := dial(t, addr)
			trickled := make(chan struct{})
			go func() {
				defer close(trickled)
				conn.trickle(c.text)
			}()
			require.Equal(t, c.want, conn.answers())
			require.Less(t, time.Since(began), c.in+time.Minute, "the connection is let go")
			require.Greater(t, time.Since(began), c.in-2*time.Second, "and a slow one was given a chance")
			_ = conn.Close()
			<-trickled
		})
	}
	t.Run("healthy", func(t *testing.T) {
		t.Parallel()
		for range 5 {
			require.Equal(t, []int{200}, say(t, addr, "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
		}
		require.Zero(t, env.Timers(kind))
	})
}

// trickle sends a text, then blanks or letters that keep the request from being complete,
// until the server hangs up.
func (r *raw) trickle(text string) {
	_, _ = io.WriteString(r, text)
	if strings.Contains(text, "chunked") || text == "" {
		return // one more letter would be another error
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(r, " "); err != nil || r.closed() {
			return
		}
	}
}

func (r *raw) closed() bool { return r.SetWriteDeadline(time.Now().Add(time.Second)) != nil }

// A body that may be left out may also come in chunks of which there is none.
func TestAnEmptyBodyInChunks(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	addr := env.Serve()
	env.Add(gateway.Booking(kind, "x", "1h"))
	ask := func(call, chunks string) []int {
		return say(t, addr, "POST /v1/"+call+"?wait=0s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"+chunks)
	}
	const none, some = "0\r\n\r\n", "2\r\n{}\r\n0\r\n\r\n"
	require.Subset(t, []int{200, 202}, ask("timers/"+kind+"/x/pause", none))
	require.Equal(t, []int{415}, ask("timers/"+kind+"/x/pause", some), "a body needs its type")
	for _, word := range []string{"ack", "nack"} {
		require.Equal(t, []int{404}, ask("deliveries/msg_aaaaaaaaaaaaaaaaaaaaaaaaaa/"+word, none), "the body is not what is wrong")
	}
}

// Paths are decoded exactly once, and never lead to another resource.
func TestAbusedPaths(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	addr := env.Serve()
	env.Add(gateway.Booking(kind, "x", "1h"))
	for path, want := range map[string][]int{
		"/v1/timers/TYPE/x": {200}, "/v1/timers/TYPE/%78": {200},
		"/v1/timers/TYPE/%2578": {422}, "/v1/timers/TYPE/x%00": {422}, "/v1/timers/TYPE/x%2F": {422, 404}, "/v1/timers/TYPE%2Fx": {404},
		"/v1/timers/TYPE/x/": {404}, "/v1/timers/TYPE//x": {404, 422}, "//v1/timers/TYPE/x": {404}, "/v1//timers/TYPE/x": {404, 422},
		"/v1/timers/../timers/TYPE/x": {404, 422}, "/v1/timers/TYPE/./x": {404, 405}, "/v1/timers/TYPE/..": {404, 422}, "/v1/timers/TYPE/.": {404, 422},
		"/v1/timers/TYPE/%2e%2e": {404, 422}, "/v1/timers/%2e%2e/policies": {404, 422}, "/V1/timers/TYPE/x": {404}, "/v1/timers;x/TYPE/x": {404},
		"/v1/timers/TYPE/%ff": {422}, "/v1/timers/TYPE/%c0%af": {422}, "/v1/timers/TYPE/\xff": {422, 400}, "/v1/timers/TYPE/x%0d%0aX:y": {422},
		"/v1/timers/TYPE/x?%00": {422}, "/v1/timers/TYPE/x?;": {422, 200}, "/v1/timers/TYPE/x?%zz=1": {422, 200, 400}, "/v1/timers?page_size=9999999999999999999999": {422},
		"/v1/timers?business_type=TYPE&business_type=TYPE": {422}, "/v1/timers?page_token=" + strings.Repeat("A", 8<<10): {422},
		"/v1/timers?due_from=0000-01-01T00:00:00Z": {422}, "/v1/policies/%2e%2e": {404, 422}, "/v1/policies/TYPE%00": {422}, "/docs/../v1/timers": {404, 200},
	} {
		text := "GET " + strings.ReplaceAll(path, "TYPE", kind) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
		got := say(t, addr, text)
		require.Len(t, got, 1, path)
		require.Contains(t, want, got[0], path)
	}
}

// Bodies that no honest client sends. Each is refused, and starts nothing.
var bodies = map[string]struct {
	body string
	want int
}{
	"deep arrays":           {`{"payload":` + strings.Repeat("[", 100_000), 400},
	"deep arrays, closed":   {`{"payload":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `}`, 400},
	"deep objects":          {strings.Repeat(`{"a":`, 20_000), 400},
	"lone surrogate":        {`{"business_type":"TYPE","business_id":"\ud800","delay":"1h"}`, 400},
	"swapped surrogates":    {`{"business_type":"TYPE","business_id":"\udc00\ud800","delay":"1h"}`, 400},
	"surrogate in payload":  {`{"business_type":"TYPE","business_id":"x","delay":"1h","payload":"\ud800"}`, 400},
	"NaN":                   {`{"business_type":"TYPE","business_id":"x","delay":"1h","priority":NaN}`, 400},
	"Infinity":              {`{"business_type":"TYPE","business_id":"x","delay":"1h","retry":{"initial":"1s","multiplier":Infinity}}`, 400},
	"number beyond float64": {`{"business_type":"TYPE","business_id":"x","delay":"1h","retry":{"initial":"1s","jitter":1e400}}`, 422},
	"number beyond int64":   {`{"business_type":"TYPE","business_id":"x","delay":"1h","priority":9223372036854775808}`, 422},
	"long number":           {`{"business_type":"TYPE","business_id":"x","delay":"1h","priority":` + strings.Repeat("9", 100_000) + `}`, 422},
	"negative zero":         {`{"business_type":"TYPE","business_id":"x","delay":"1h","priority":-0}`, 422},
	"leading zero":          {`{"business_type":"TYPE","business_id":"x","delay":"1h","priority":01}`, 400},
	"comment":               {`{"business_type":"TYPE",/**/"business_id":"x","delay":"1h"}`, 400},
	"single quotes":         {`{'business_type':'TYPE'}`, 400},
	"trailing comma":        {`{"business_type":"TYPE","business_id":"x","delay":"1h",}`, 400},
	"NUL behind":            {"{\"business_type\":\"TYPE\",\"business_id\":\"x\",\"delay\":\"1h\"}\x00", 400},
	"UTF-16":                {"\xfe\xff\x00{\x00}", 400},
	"control in string":     {"{\"business_type\":\"TYPE\",\"business_id\":\"a\nb\",\"delay\":\"1h\"}", 400},
	"same name, escaped":    {`{"business_type":"TYPE","business_id":"x","delay":"1h","d\u0065lay":"2h"}`, 400},
	"prototype":             {`{"__proto__":{},"constructor":1,"":2}`, 422},
	"many unknown fields":   {"{" + strings.Join(slices.Collect(fields(5000)), ",") + "}", 422},
	"pointer characters":    {`{"a/b~c":1}`, 422},
	"right-to-left id":      {`{"business_type":"TYPE","business_id":"a\u202eb","delay":"1h"}`, 422},
	"id with line end":      {`{"business_type":"TYPE","business_id":"a\n","delay":"1h"}`, 422},
	"type with line end":    {`{"business_type":"TYPE\n","business_id":"a","delay":"1h"}`, 422},
	"header injection":      {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https://h/","headers":{"X":"a\r\nY: b"}}}`, 422},
	"header name injection": {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https://h/","headers":{"X\r\nY":"a"}}}`, 422},
	"resend header":         {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https://h/","headers":{"idempotency-KEY":"a"}}}`, 422},
	"URL with line end":     {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https://h/\r\nX: y"}}`, 422},
	"URL without host":      {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https:///x"}}`, 422},
	"URL of 3000":           {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https://h/` + strings.Repeat("x", 3000) + `"}}`, 422},
	"URL of a database":     {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"http://h:5432/"}}`, 422},
	"nanosecond":            {`{"business_type":"TYPE","business_id":"x","delay":"1h","callback":{"url":"https://h/","timeout":"1ns"}}`, 422},
	"duration of NaN":       {`{"business_type":"TYPE","business_id":"x","delay":"NaNs"}`, 422},
	"offset of 25 hours":    {`{"business_type":"TYPE","business_id":"x","due_at":"2030-01-01T00:00:00+25:00"}`, 422},
}

func fields(n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprintf(`"f%d":1`, i)) {
				return
			}
		}
	}
}

func TestAbusedBodies(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	for name, c := range bodies {
		reply := env.Do("POST", "/v1/timers", strings.ReplaceAll(c.body, "TYPE", kind))
		require.Equal(t, c.want, reply.Status, "%s: %.300s", name, reply.Body)
		reply.Problem()
		require.Less(t, len(reply.Body), 1<<20, name)
	}
	for _, call := range []struct{ method, path string }{
		{"PUT", "/v1/timers/" + kind + "/x"}, {"PATCH", "/v1/timers/" + kind + "/x"}, {"PUT", "/v1/policies/" + kind}, {"POST", "/v1/timers/batch"},
	} {
		for name, c := range bodies {
			reply := env.Do(call.method, call.path, strings.ReplaceAll(c.body, "TYPE", kind))
			require.Contains(t, []int{400, 404, 422}, reply.Status, "%s %s %s: %.300s", call.method, call.path, name, reply.Body)
			reply.Problem()
		}
	}
	require.Zero(t, env.Timers(kind), "a refused request starts nothing")
}

// A body is not unpacked, and a too large one is not read: many at once do not fill the memory.
func TestAbusedSizes(t *testing.T) {
	env, kind := gateway.Open(t)
	addr := env.Serve()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 64<<20))
	require.NoError(t, z.Close())
	const head = "POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
	zipped := fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", head, packed.Len(), packed.String())
	huge := head + "Content-Length: 1000000000\r\n\r\n" + strings.Repeat(" ", 256<<10)
	chunk := "40000\r\n" + strings.Repeat(" ", 256<<10) + "\r\n"
	chunked := head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk // after the second, net/http waits for no more
	before := heap()
	t.Run("at once", func(t *testing.T) {
		for range 20 {
			for name, c := range map[string]struct {
				text string
				want int
			}{"gzip": {zipped, 415}, "said": {huge, 413}, "chunked": {chunked, 413}} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					for _, status := range say(t, addr, c.text) { // none if the reset overtakes the answer
						require.Equal(t, c.want, status)
					}
				})
			}
		}
	})
	require.Less(t, heap()-before, int64(64<<20))
	require.Zero(t, env.Timers(kind))
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
