package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
)

// pipes is a listener whose connections hold nothing: what is not read blocks who writes.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	end   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.end:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.end) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.end:
		return nil, net.ErrClosed
	}
}

// exchange is a gateway in a time of its own, with its receivers.
type exchange struct {
	*testing.T
	hub    *stream.Hub
	server *Server
	client *http.Client
	logged *bytes.Buffer
	// policy is that of every type, once err is nil; mu guards both.
	mu     sync.Mutex
	policy policy.Policy
	err    error
	// elsewhere are the answers to rings of other gateways.
	elsewhere []delivery.RingAnswer
}

func openExchange(t *testing.T) *exchange { return openExchangeFor(t, auth.Anyone()) }

func openExchangeFor(t *testing.T, authenticator *auth.Authenticator) *exchange {
	e := &exchange{T: t, logged: &bytes.Buffer{}}
	e.policy.Callback.Stream = true
	e.hub = stream.NewHub(stream.Bounds{Connections: 3, PerType: 2}, func(string, int) {})
	listener := &pipes{conns: make(chan net.Conn), end: make(chan struct{})}
	e.client = &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
	e.server = New(Options{
		Timers:     timers.Options{Timers: silent{}, Failures: silent{}},
		Front:      front.Options{Telemetry: unmetered{}, Auth: authenticator, Logger: slog.New(slog.NewJSONHandler(e.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))},
		Operations: operations.Options{Ready: func(context.Context) error { return nil }},
		Streams: streams.Options{Hub: e.hub, Gateway: "here", AnswerElsewhere: func(_ context.Context, answer delivery.RingAnswer) error {
			e.elsewhere = append(e.elsewhere, answer)
			return e.err
		}, Policy: e.livePolicy},
		EndWaits: func() {},
	})
	var serving sync.WaitGroup
	serving.Go(func() { _ = e.server.Serve(listener) })
	t.Cleanup(func() {
		require.NoError(t, e.server.Shutdown(context.WithoutCancel(t.Context())))
		e.client.CloseIdleConnections()
		serving.Wait()
	})
	return e
}

func (e *exchange) livePolicy(context.Context, string) (policy.Policy, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.policy, e.err
}

// change changes what is known of the policy.
func (e *exchange) change(err error, change func(*exchange)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
	change(e)
}

// receive connects a receiver, which reads nothing yet.
func (e *exchange) receive(query string) *websocket.Conn {
	e.Helper()
	ws, _, err := websocket.Dial(e.Context(), "ws://localhost/v1/streams/order"+query, &websocket.DialOptions{HTTPClient: e.client})
	require.NoError(e, err)
	ws.SetReadLimit(1 << 20)
	return ws
}

// ring rings the receivers without waiting for an answer.
func (e *exchange) ring() <-chan stream.Outcome {
	came := make(chan stream.Outcome, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		came <- e.hub.Ring(ctx, "order", stream.Ring{Deadline: time.Now().Add(10 * time.Second), Headers: map[string]string{"webhook-id": "msg_1"}, Body: []byte("x")})
	}()
	return came
}

// read is the next message.
func (e *exchange) read(ws *websocket.Conn) (message map[string]any) {
	e.Helper()
	_, text, err := ws.Read(e.Context())
	require.NoError(e, err)
	require.NoError(e, json.Unmarshal(text, &message))
	return message
}

func (e *exchange) say(ws *websocket.Conn, text string) {
	e.Helper()
	require.NoError(e, ws.Write(e.Context(), websocket.MessageText, []byte(text)))
}

// closed waits for the end of a connection, and returns the code and the reason.
func closed(t *testing.T, ws *websocket.Conn) websocket.CloseError {
	t.Helper()
	for {
		_, _, err := ws.Read(t.Context())
		var ended websocket.CloseError
		if err != nil {
			require.ErrorAs(t, err, &ended)
			return ended
		}
	}
}

// An answer that comes twice is refused, and nothing else happens. Whoever answers what it
// was never sent, or sends what is no answer, is let go with the reason.
func TestAnswersThatDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		ws := e.receive("")
		came := e.ring()
		require.Equal(t, "1", e.read(ws)["ring"])
		e.say(ws, `{"ack":"1"}`)
		require.True(t, (<-came).Delivered)
		e.say(ws, `{"ack":"1"}`)
		refused := e.read(ws)
		require.Equal(t, "1", refused["refused"])
		require.Equal(t, "urn:wakecall:problem:ring-over", refused["problem"].(map[string]any)["type"])
		came = e.ring()
		require.Equal(t, "2", e.read(ws)["ring"])
		e.say(ws, `{"nack":"2","reason":"no","delay":"7s"}`)
		require.Equal(t, delivery.Answer{Class: delivery.Refused, Detail: "no", RetryAfter: 7 * time.Second}, (<-came).Answer)
		_ = ws.CloseNow()
	})
	for text, wants := range map[string]struct {
		problem, reason string
	}{
		`{"ack":"99"}`:                        {"not-found", "never sent"},
		`{"ack":"0"}`:                         {"not-found", "never sent"},
		`{"ack":"x"}`:                         {"not-found", "never sent"},
		`{"ack":"18446744073709551616"}`:      {"not-found", "never sent"},
		`{"ack":"1","nack":"1"}`:              {"invalid-request", "not an answer"},
		`{"ack":"1","delay":"1s"}`:            {"invalid-request", "not an answer"},
		`{"nack":"1","delay":"2h"}`:           {"invalid-request", "not an answer"},
		`{"nack":"1","delay":"-1s"}`:          {"invalid-request", "not an answer"},
		`{"nack":"1","no_retry":"yes"}`:       {"invalid-request", "not an answer"},
		`{"ack":1}`:                           {"invalid-request", "not an answer"},
		`{"other":"1"}`:                       {"invalid-request", "not an answer"},
		`{}`:                                  {"invalid-request", "not an answer"},
		`[]`:                                  {"malformed-request", "not an answer"},
		`{"ack":"1"`:                          {"malformed-request", "not an answer"},
		`{"ack":"1","ack":"2"}`:               {"malformed-request", "not an answer"},
		`{"ack":` + strings.Repeat("[", 2000): {"malformed-request", "not an answer"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := openExchange(t)
			ws := e.receive("")
			came := e.ring()
			e.read(ws)
			e.say(ws, text)
			problem := e.read(ws)["problem"].(map[string]any)
			require.Equal(t, "urn:wakecall:problem:"+wants.problem, problem["type"], text)
			ended := closed(t, ws)
			require.Equal(t, websocket.StatusPolicyViolation, ended.Code)
			require.Contains(t, ended.Reason, wants.reason)
			require.True(t, (<-came).NoVerdict, "its ring goes to another one")
		})
	}
}

// A receiver cannot make the gateway keep what it sends.
func TestMessagesOfReceiversAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		kind websocket.MessageType
		size int
		code websocket.StatusCode
	}{
		"a bit too long":    {websocket.MessageText, limits.MaxStreamAnswer + 1, websocket.StatusMessageTooBig},
		"without an end":    {websocket.MessageText, 1 << 30, websocket.StatusMessageTooBig},
		"of another kind":   {websocket.MessageBinary, 3, websocket.StatusUnsupportedData},
		"nothing of a kind": {websocket.MessageBinary, 0, websocket.StatusUnsupportedData},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := openExchange(t)
				ws := e.receive("")
				w, err := ws.Writer(t.Context(), c.kind)
				require.NoError(t, err)
				var wrote int
				ended := make(chan struct{})
				go func() { // the pipe holds nothing: what is written was read
					defer close(ended)
					chunk := bytes.Repeat([]byte("x"), 1024)
					for wrote < c.size {
						n, err := w.Write(chunk[:min(len(chunk), c.size-wrote)])
						wrote += n
						if err != nil {
							return
						}
					}
					_ = w.Close()
				}()
				require.Equal(t, c.code, closed(t, ws).Code)
				<-ended
				require.Less(t, wrote, 1<<20)
				_ = ws.CloseNow()
			})
		})
	}
}

// A receiver that takes nothing is let go, and its rings go to another one.
func TestAReceiverThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		deaf := e.receive("?window=1")
		began := time.Now()
		came := <-e.ring()
		require.True(t, came.NoVerdict)
		require.Equal(t, tuning.StreamWrite, time.Since(began))
		synctest.Wait()
		require.Empty(t, e.hub.Connections())
		_ = deaf.CloseNow()
		synctest.Wait()
		require.Contains(t, e.logged.String(), "the receiver read nothing for 5s")
	})
}

// One that is not there any more is noticed by its silence, also where it is rung by nobody.
func TestAReceiverThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		ws := e.receive("")
		<-time.After(tuning.StreamPing)
		require.NotEmpty(t, e.hub.Connections())
		<-time.After(tuning.StreamPong)
		synctest.Wait()
		require.Empty(t, e.hub.Connections())
		_ = ws.CloseNow()
		synctest.Wait()
		require.Contains(t, e.logged.String(), "did not answer a ping")
	})
}

// A gateway that stops says so, waits for the answers to what it has sent, and gives back
// at once what it has not.
func TestAGatewayThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		prompt, slow := e.receive("?window=1"), e.receive("?window=1")
		first, second := e.ring(), e.ring()
		for _, ws := range []*websocket.Conn{prompt, slow} {
			require.Equal(t, "1", e.read(ws)["ring"])
		}
		stopped := make(chan error, 1)
		began := time.Now()
		go func() { stopped <- e.server.Shutdown(t.Context()) }()
		for _, ws := range []*websocket.Conn{prompt, slow} {
			require.Equal(t, "the gateway is shutting down", e.read(ws)["closing"])
		}
		e.say(prompt, `{"ack":"1"}`)
		ended := closed(t, prompt)
		require.Equal(t, websocket.CloseError{Code: websocket.StatusGoingAway, Reason: "the gateway is shutting down"}, ended)
		require.Zero(t, time.Since(began))
		require.Equal(t, websocket.StatusGoingAway, closed(t, slow).Code)
		require.Equal(t, tuning.StreamDrain, time.Since(began))
		delivered, lost := <-first, <-second
		if lost.Delivered {
			delivered, lost = lost, delivered
		}
		require.True(t, delivered.Delivered)
		require.True(t, lost.NoVerdict)
		require.NoError(t, <-stopped)
		answer, err := e.client.Get("http://localhost/v1/streams/order")
		require.Error(t, err)
		require.Nil(t, answer)
	})
}

// until are tokens that all are good until a time.
type until time.Time

func (u until) Bearer(context.Context, string, [sha256.Size]byte) (*auth.Principal, error) {
	all := auth.Grant{Role: auth.Operator, Payloads: true, Types: []string{auth.AllBusinessTypes}}
	return &auth.Principal{Name: "ada", By: auth.ByOIDC, Grants: []auth.Grant{all}, Ends: time.Time(u)}, nil
}

// A connection does not outlive the token that it was opened with. What the receiver has it
// may still answer.
func TestAConnectionEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		e := openExchangeFor(t, auth.New(nil).WithTokens(until(began.Add(tuning.StreamPing/2))))
		ws, _, err := websocket.Dial(t.Context(), "ws://localhost/v1/streams/order", &websocket.DialOptions{HTTPClient: e.client, HTTPHeader: http.Header{"Authorization": {"Bearer a"}}})
		require.NoError(t, err)
		taken := e.ring()
		require.Equal(t, "1", e.read(ws)["ring"])
		require.Equal(t, "the token or certificate has expired", e.read(ws)["closing"])
		require.Equal(t, tuning.StreamPing/2, time.Since(began))
		e.say(ws, `{"ack":"1"}`)
		require.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "the token or certificate has expired"}, closed(t, ws))
		require.True(t, (<-taken).Delivered)
	})
}

// A receiver is told when the policy does not want it any more.
func TestAPolicyThatLeadsElsewhereByNow(t *testing.T) {
	for name, change := range map[string]func(*exchange){
		"it has a URL":  func(e *exchange) { e.policy.Callback.Destination = delivery.HTTP("https://h/") },
		"it is deleted": func(e *exchange) { e.err = &wire.Error{Code: wire.NotFound} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := openExchange(t)
				ws := e.receive("")
				e.change(&wire.Error{Code: wire.Unavailable}, func(*exchange) {}) // that says nothing
				began := time.Now()
				time.AfterFunc(2*tuning.StreamPing-time.Second, func() { e.change(nil, change) })
				require.Equal(t, websocket.StatusNormalClosure, closed(t, ws).Code)
				require.Equal(t, 2*tuning.StreamPing, time.Since(began))
			})
		})
	}
}

// What is no opening of a WebSocket is a problem like any other.
func TestHandshakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		good := map[string]string{
			"Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
		}
		get := func(change map[string]string, query string) (status int, kind string) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/v1/streams/order"+query, nil)
			require.NoError(t, err)
			for _, headers := range []map[string]string{good, change} {
				for name, value := range headers {
					request.Header.Set(name, value)
				}
			}
			answer, err := e.client.Do(request)
			require.NoError(t, err)
			if answer.StatusCode == http.StatusSwitchingProtocols {
				t.Cleanup(func() { _ = answer.Body.Close() })
				return answer.StatusCode, ""
			}
			defer func() { _ = answer.Body.Close() }()
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			var problem problem.Document
			require.NoError(t, json.Unmarshal(text, &problem), "%s", text)
			return answer.StatusCode, string(problem.Code())
		}
		for _, c := range []struct {
			change map[string]string
			query  string
			status int
			kind   string
		}{
			{map[string]string{"Connection": "close"}, "", 400, "malformed-request"},
			{map[string]string{"Sec-WebSocket-Version": "8"}, "", 400, "malformed-request"},
			{map[string]string{"Sec-WebSocket-Key": "short"}, "", 400, "malformed-request"},
			{map[string]string{"Origin": "https://evil.example"}, "", 403, "forbidden"},
			{map[string]string{"Origin": "null"}, "", 403, "forbidden"},
			{map[string]string{"Upgrade": "", "Sec-Fetch-Site": "cross-site"}, "?wait=0s", 403, "forbidden"},
			{nil, "?window=0", 422, "invalid-request"},
			{nil, "?window=257", 422, "invalid-request"},
			{nil, "?wait=1s", 422, "invalid-request"},
			{map[string]string{"Upgrade": ""}, "?window=1", 422, "invalid-request"},
			{map[string]string{"Origin": "http://localhost"}, "", 101, ""},
			{nil, "", 101, ""},
			{nil, "", 429, "quota-exceeded"},
		} {
			status, kind := get(c.change, c.query)
			require.Equal(t, []any{c.status, c.kind}, []any{status, kind}, "%v %s", c.change, c.query)
		}
	})
}

// Rings of a long poll are answered by calls of their own, at any gateway.
func TestAnswersToPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		connection, err := e.hub.Join("order", 1)
		require.NoError(t, err)
		defer connection.Close()
		came := e.ring()
		ring, err := connection.Next(t.Context())
		require.NoError(t, err)
		id := "here." + connection.Name() + "." + strconv.FormatUint(ring.Number, 10)
		answer := func(businessType, body string) int {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/v1/streams/"+businessType+"/answers", strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/json")
			answer, err := e.client.Do(request)
			require.NoError(t, err)
			_ = answer.Body.Close()
			return answer.StatusCode
		}
		for _, wrong := range []string{"", "1", "here.1", "here.x.1", strings.TrimSuffix(id, "1") + "2", strings.TrimSuffix(id, "1") + "x", id + ".1"} {
			require.Equal(t, http.StatusConflict, answer("order", `{"ack":"`+wrong+`"}`), wrong)
		}
		require.Equal(t, http.StatusConflict, answer("invoice", `{"ack":"`+id+`"}`), "of another type")
		require.Equal(t, http.StatusUnprocessableEntity, answer("order", `{"ack":"`+id+`","reason":"x"}`))
		require.Equal(t, http.StatusNoContent, answer("order", `{"nack":"`+id+`","reason":"no","delay":"1s","stop":true}`))
		require.Equal(t, delivery.Answer{Class: delivery.Refused, Detail: "no", RetryAfter: time.Second, Stop: true}, (<-came).Answer)
		require.Equal(t, http.StatusConflict, answer("order", `{"ack":"`+id+`"}`), "twice")
		require.Empty(t, e.elsewhere)
		require.Equal(t, http.StatusNoContent, answer("order", `{"ack":"there.c.7"}`))
		require.Equal(t, []delivery.RingAnswer{{Gateway: "there", BusinessType: "order", Connection: "c", Number: 7, Delivered: true}}, e.elsewhere)
		e.err = &wire.Error{Code: wire.RingOver}
		require.Equal(t, http.StatusConflict, answer("order", `{"ack":"there.c.7"}`))
	})
}

// A long poll holds its rings until they are answered or over; one that nobody got goes
// to another receiver.
func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openExchange(t)
		poll := func(ctx context.Context, query string) (rings []streams.RingBody) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/v1/streams/order"+query, nil)
			require.NoError(t, err)
			answer, err := e.client.Do(request)
			if err != nil {
				return nil
			}
			defer func() { _ = answer.Body.Close() }()
			var body streams.RingsBody
			require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
			return body.Rings
		}
		began := time.Now()
		require.Empty(t, poll(t.Context(), "?wait=3s"))
		require.Equal(t, 3*time.Second, time.Since(began))

		var first, second, third <-chan stream.Outcome
		time.AfterFunc(time.Second, func() { first, second, third = e.ring(), e.ring(), e.ring() })
		rings := poll(t.Context(), "?max=2")
		require.Len(t, rings, 2)
		synctest.Wait()
		left := 0
		for _, came := range []<-chan stream.Outcome{first, second, third} {
			select {
			case outcome := <-came:
				require.Equal(t, delivery.ConnectFailure, outcome.Class)
				left++
			default:
			}
		}
		require.Equal(t, 1, left, "there was room for two")
		require.Equal(t, map[string]int{"order": 1}, e.hub.Connections(), "it holds them")
		<-time.After(10 * time.Second)
		synctest.Wait()
		require.Empty(t, e.hub.Connections(), "until their time is over")

		gone, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, hangUp)
		require.Empty(t, poll(gone, ""))
		synctest.Wait()
		require.Empty(t, e.hub.Connections())

		head, err := e.client.Head("http://localhost/v1/streams/order") //nolint:noctx // it answers at once
		require.NoError(t, err)
		_ = head.Body.Close()
		require.Equal(t, http.StatusOK, head.StatusCode, "it takes no ring, and does not wait")
	})
}
