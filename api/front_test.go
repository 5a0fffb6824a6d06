package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// stub are timers of which every list holds nothing.
type stub struct {
	apitimers.Timers
	filters []timer.Filter
}

func (s *stub) List(_ context.Context, r timers.PageRequest) (timers.Page, error) {
	s.filters = append(s.filters, r.Filter)
	return timers.Page{Timers: []timer.View{}}, nil
}
func (s *stub) Add(context.Context, bookings.Request) (timer.View, bool, error) {
	return timer.View{}, false, wire.FieldErrors{{Pointer: "/due_at"}}.Err()
}

type unmetered struct{}

func (unmetered) Requested(string, string, int, time.Duration) {}
func (unmetered) Handler() http.Handler                        { return http.NotFoundHandler() }

// gateway is a server that listens, with what it asks of its timers and what it logs.
type gateway struct {
	t      *testing.T
	addr   string
	timers *stub
	logged *bytes.Buffer
	stop   func()
}

func openFront(t *testing.T, options Options) gateway {
	t.Helper()
	f := gateway{t: t, timers: &stub{}, logged: &bytes.Buffer{}}
	if options.Front.Auth == nil {
		options.Front.Auth = auth.Anyone()
	}
	if options.Operations.Ready == nil {
		options.Operations.Ready = func(context.Context) error { return nil }
	}
	options.Timers.Timers, options.Timers.Failures, options.Front.Telemetry = f.timers, silent{}, unmetered{}
	options.EndWaits = func() {}
	options.Front.Logger = slog.New(slog.NewJSONHandler(f.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f.addr = listener.Addr().String()
	server := New(options)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	f.stop = sync.OnceFunc(func() {
		require.NoError(t, server.Shutdown(context.WithoutCancel(t.Context())))
		serving.Wait()
	})
	t.Cleanup(f.stop)
	return f
}

// say sends a text, and returns the answers that come until the server hangs up, with
// their bodies.
func (f gateway) say(method, text string) (answers []*http.Response, bodies []string) {
	f.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(f.t.Context(), "tcp", f.addr)
	require.NoError(f.t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(f.t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(conn, text)
	require.NoError(f.t, err)
	for in := bufio.NewReader(conn); ; {
		answer, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return answers, bodies
		}
		body, err := io.ReadAll(answer.Body)
		require.NoError(f.t, err)
		require.NoError(f.t, answer.Body.Close())
		answers, bodies = append(answers, answer), append(bodies, string(body))
	}
}

// get makes one GET with these header lines.
func (f gateway) get(path string, headers ...string) (*http.Response, string) {
	f.t.Helper()
	text := "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	answers, bodies := f.say(http.MethodGet, text)
	require.Len(f.t, answers, 1)
	return answers[0], bodies[0]
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	keyed := openFront(t, Options{Front: front.Options{Auth: authOf(t, "ops", "")}})
	for header, want := range map[string]int{
		"Authorization: Bearer secret": 200, "Authorization: bearer secret": 200, "AUTHORIZATION: BEARER   secret": 200,
		"Authorization: Bearer wrong": 401, "Authorization: Basic secret": 401, "Authorization: Bearersecret": 401,
		"Authorization: secret": 401, "Authorization:": 401, "X: y": 401,
		"Authorization: Bearer secret\r\nAuthorization: Bearer wrong":  401,
		"Authorization: Bearer secret\r\nAuthorization: Bearer secret": 401,
	} {
		answer, _ := keyed.get("/v1/timers", header)
		require.Equal(t, want, answer.StatusCode, header)
	}
	open := openFront(t, Options{})
	answer, _ := open.get("/v1/timers", "Authorization: a", "Authorization: b")
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode, "also where nobody needs a key")
	answer, _ = open.get("/v1/timers", "Authorization: a")
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

func TestHeadAnswersLikeGet(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{})
	for _, path := range []string{"/v1/timers", "/livez", "/readyz", "/openapi.yaml", "/docs", "/v1/timers/A/x", "/nowhere"} {
		got, body := f.get(path)
		heads, nothing := f.say(http.MethodHead, "HEAD "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		require.Len(t, heads, 1, path)
		require.Equal(t, got.StatusCode, heads[0].StatusCode, path)
		require.Equal(t, got.Header.Get("Content-Type"), heads[0].Header.Get("Content-Type"), path)
		require.NotEmpty(t, body, path)
		require.Empty(t, nothing[0], path)
	}
	require.Contains(t, f.logged.String(), `"method":"HEAD","route":"/livez","status":200`)
	answers, _ := f.say(http.MethodHead, "HEAD /v1/timers/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	require.Equal(t, http.StatusMethodNotAllowed, answers[0].StatusCode, "where GET is not answered")
	denied, _ := f.say(http.MethodPost, "POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	require.Equal(t, "OPTIONS, GET, HEAD", denied[0].Header.Get("Allow"))
	for path, allowed := range map[string]string{"/livez": "OPTIONS, GET, HEAD", "/v1/timers": "OPTIONS, GET, POST, HEAD", "/v1/timers/batch": "OPTIONS, POST"} {
		asked, _ := f.say(http.MethodOptions, "OPTIONS "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		require.Equal(t, http.StatusNoContent, asked[0].StatusCode, path)
		require.Equal(t, []string{allowed}, asked[0].Header.Values("Allow"), path)
	}
}

// A request that says its length twice is refused, wherever it comes on its connection
// and however it arrives; each of the others is not.
func TestLengthSaidTwice(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{})
	const post = "POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	const twice = "Send Content-Length or Transfer-Encoding, not both."
	const body = "2\r\n{}\r\n0\r\n\r\n"
	for name, c := range map[string]struct {
		text string
		want []string // the details of the answers
	}{
		"length first":    {post + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + body, []string{twice}},
		"chunks first":    {post + "transfer-encoding: Chunked\r\ncontent-length: 12\r\n\r\n" + body, []string{twice}},
		"bare line feeds": {strings.ReplaceAll(post, "\r", "") + "Content-Length: 12\nTransfer-Encoding: chunked\n\n" + body, []string{twice}},
		"behind another":  {"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n" + post + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + body, []string{"no such resource", twice}},
		"chunks only":     {post + "Transfer-Encoding: chunked\r\n\r\n" + body, []string{"invalid values"}},
		"length only":     {post + "Connection: close\r\nContent-Length: 2\r\n\r\n{}", []string{"invalid values"}},
		"said in a body":  {post + "Content-Length: 41\r\n\r\n{\"a\":\"\r\nContent-Length: 1\r\n\r\n          \"}" + post + "Transfer-Encoding: chunked\r\n\r\n" + body, []string{"not valid JSON", "invalid values"}},
		"folded":          {post + "Content-Length:\r\n 12\r\nTransfer-Encoding: chunked\r\n\r\n" + body, []string{twice}},
		"behind a folded length": {post + "Content-Length:\r\n\t2\r\n\r\n{}" + post + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
			[]string{"invalid values", twice}},
		"behind a fold of a line feed": {strings.ReplaceAll(post, "\r", "") + "Content-Length:\n \n 2\n\n{}" + post + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
			[]string{"invalid values", twice}},
		"behind an old one by a port": {strings.Replace(strings.Replace(post, "1.1", "1.0", 1), "/v1", "http://localhost:80/v1", 1) + "Connection: keep-alive\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}" +
			post + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + body, []string{"invalid values", twice}},
		"of an old version": {strings.Replace(post, "1.1", "1.0", 1) + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", []string{"invalid values"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, bodies := f.say(http.MethodPost, c.text)
			require.Len(t, bodies, len(c.want), "%q", bodies)
			for i, detail := range c.want {
				require.Contains(t, bodies[i], detail)
			}
		})
	}
}

// A request id of the caller's is repeated only while it is short and readable.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{})
	for id, kept := range map[string]bool{
		"abc-1": true, strings.Repeat("x", tuning.RequestIDLen): true, strings.Repeat("x", tuning.RequestIDLen+1): false, "a b": false, "\xc3\xa9": false,
	} {
		answer, _ := f.get("/livez", "X-Request-Id: "+id)
		require.Equal(t, kept, answer.Header.Get("X-Request-Id") == id, id)
		require.NotEmpty(t, answer.Header.Get("X-Request-Id"))
	}
}

// What a query says badly is refused: left out, it would select everything.
func TestMalformedQueries(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{})
	for query, pointer := range map[string]string{
		"business_type=pz%": "business_type", "business_type=%zz": "business_type", "business_type=a;status=failed": "business_type",
		"status=failed;": "status", "%zz=1": "%zz", "business%5ftype=a%ff": "business_type", "business_type=": "business_type",
		"business_type": "business_type", "=": "", "=x": "", ";": ";", "status=failed&status=failed": "status", "due_from=": "due_from",
		"due_from=2027-01-02T00:00:00.001Z&due_to=2027-01-02T00:00:00Z": "due_to", "ended_from=2027-01-02T00:00:00Z&ended_to=2027-01-01T00:00:00Z": "ended_to",
		"label=customer": "label", "label=": "label", "label=Customer%3D1": "label", "label=a%3D1&label=a%3D2": "label", "label=a%3Da%20b": "label", "sort=created": "sort", "attempts=1": "attempts",
		"\xff%=1": "\ufffd%", strings.Repeat("x", 300) + "=1": strings.Repeat("x", 253) + "…",
	} {
		answer, body := f.get("/v1/timers?" + query)
		require.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode, query)
		var problem problem.Document
		require.NoError(t, json.Unmarshal([]byte(body), &problem))
		require.Len(t, problem.Errors, 1, "%s: %s", query, body)
		require.Equal(t, pointer, problem.Errors[0].Pointer, query)
	}
	require.Empty(t, f.timers.filters, "nothing was listed")
	for query, want := range map[string]timer.Filter{
		"label=a%3D1%3D&label=b%3D2": {Labels: timer.Labels{"a": "1=", "b": "2"}},
		"due_from=1970-01-01T00:00:02Z&due_to=1970-01-01T00:00:02Z&ended_to=1970-01-01T00:00:01Z": {DueFrom: 2000, DueTo: 2000, EndedTo: 1000},
		"": {}, "&": {}, "page_token=": {}, "business_type=a&status=failed": {BusinessType: "a", Status: timer.Failed}, "business%5Ftype=a": {BusinessType: "a"},
	} {
		answer, _ := f.get("/v1/timers?" + query)
		require.Equal(t, http.StatusOK, answer.StatusCode, query)
		require.Equal(t, want, f.timers.filters[len(f.timers.filters)-1], query)
	}
}

// Only the word of a trusted proxy counts.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	near := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		trusted []netip.Prefix
		headers []string
		want    string
	}{
		"nobody is trusted":           {nil, []string{"X-Forwarded-For: 203.0.113.7", "X-Real-IP: 203.0.113.7"}, "127.0.0.1"},
		"a stranger is not":           {near[1:], []string{"X-Forwarded-For: 203.0.113.7"}, "127.0.0.1"},
		"a proxy is":                  {near, []string{"X-Forwarded-For: 203.0.113.7"}, "203.0.113.7"},
		"what the client wrote":       {near, []string{"X-Forwarded-For: 192.0.2.1, 203.0.113.7"}, "203.0.113.7"},
		"behind two proxies":          {near, []string{"X-Forwarded-For: 192.0.2.1, 203.0.113.7", "X-Forwarded-For: 10.1.2.3"}, "203.0.113.7"},
		"behind one over IPv6":        {near, []string{"X-Forwarded-For: 2001:db8::1, fd00::1"}, "2001:db8::1"},
		"no address":                  {near, []string{"X-Forwarded-For: unknown"}, "127.0.0.1"},
		"another header is not heard": {near, []string{"X-Real-IP: 203.0.113.7"}, "127.0.0.1"},
		"a proxy that says nothing":   {near, nil, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openFront(t, Options{Front: front.Options{TrustedProxies: c.trusted}})
			f.get("/livez", c.headers...)
			require.Contains(t, f.logged.String(), fmt.Sprintf("%q:%q", "from", c.want))
		})
	}
}
