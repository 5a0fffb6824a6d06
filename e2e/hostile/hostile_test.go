package hostile

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

const (
	// short is the timeout of attempts that must reach it, long that of the others, even on
	// a busy machine.
	short, long = time.Second, 10 * time.Second
	// grace is the most time beyond the timeout until the slot is free.
	grace = 5 * time.Second
	// late is the allowed extra lateness of a healthy receiver, compared with a quiet run.
	late = 5 * time.Second
)

// ground is a running environment with one worker, whose callbacks may reach
// 127.0.0.1 only.
type ground struct {
	*testenv.Env
	t    *testing.T
	kind string
}

func newGround(t *testing.T) *ground {
	settings := testenv.Settings()
	settings.CallbackAllow, settings.CallbackCA = allowed, ca.write(t)
	env := testenv.OpenWith(t, temporalAddr, settings)
	env.StartWorker()
	return &ground{Env: env, t: t, kind: "hostile"}
}

// target is a timer that is due now.
type target struct {
	id, url string
	timeout time.Duration
	retry   []string // none, one attempt
}

// book books a timer with a payload that does not fit into one packet.
func (g *ground) book(to target) {
	if to.retry == nil {
		to.retry = []string{}
	}
	g.add(testenv.JSON{
		"business_type": g.kind, "business_id": to.id, "delay": "0s", "payload": strings.Repeat("x", 60<<10),
		"callback": testenv.JSON{"url": to.url, "timeout": to.timeout.String()}, "retry": testenv.JSON{"steps": to.retry},
	})
}

// timeoutFor is the timeout of an attempt with one of the given ends.
func timeoutFor(ends []string) time.Duration {
	if slices.Contains(ends, timeout) {
		return short
	}
	return long
}

// add books a timer, again if necessary: a busy machine may be too slow to answer, and the
// same booking may be sent twice.
func (g *ground) add(body testenv.JSON) {
	status := http.StatusServiceUnavailable
	for status == http.StatusServiceUnavailable {
		status = g.Do("POST", "/v1/timers", body).Status
	}
	require.Contains(g.t, []int{http.StatusCreated, http.StatusOK}, status)
}

// end waits for the end of a hostile receiver's timer.
func (g *ground) end(t *testing.T, id string) testenv.Timer {
	t.Helper()
	return g.endOf(t, g.kind+"/"+id)
}

// endOf waits for the end of a timer. It asks Temporal, which answers only at the end.
func (g *ground) endOf(t *testing.T, path string) testenv.Timer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_ = g.Client.GetWorkflow(ctx, path, "").Get(ctx, nil) // a failed timer is an error, too
	require.NoError(t, ctx.Err(), "%s should end", path)
	return g.Get(path)
}

// message is the end of a timer in one word: delivered, or why not.
func message(timer testenv.Timer) string {
	if timer.Status == "delivered" {
		return timer.Status
	}
	class, _, _ := strings.Cut(timer.LastFailure.Message, ":")
	return class
}

func TestHostile(t *testing.T) {
	g := newGround(t)
	t.Run("receivers", func(t *testing.T) { testReceivers(t, g) })
	t.Run("certificates", func(t *testing.T) { testCertificates(t, g) })
	t.Run("name servers", func(t *testing.T) { testNames(t, g) })
	t.Run("forbidden addresses", func(t *testing.T) { testForbidden(t, g) })
	t.Run("broken connections", func(t *testing.T) { testConnections(t, g) })
	t.Run("no proxy from the environment", testProxy)
}

const (
	answer    = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	begun     = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
	begunBad  = "HTTP/1.1 500 Oops\r\nContent-Length: 1000000000\r\n\r\n"
	chunks    = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	ungzipped = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
	hints     = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	upgrade   = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: silence\r\n\r\n"
)

// ordeal is a receiver's behaviour, and the end of a timer that calls it. If a reset may
// overtake an answer, more than one end is right.
type ordeal struct {
	manner receiver.Manner
	want   []string
}

const (
	delivered = "delivered"
	broken    = "broken_answer"
	timeout   = "timeout"
	badTLS    = "tls_failure"
	expired   = "tls_expired"
	unknown   = "tls_unknown_issuer"
	wrongName = "tls_wrong_name"
	noTLS     = "tls_protocol"
	noClient  = "tls_client_certificate"
	blocked   = "blocked_address"
	noName    = "dns_failure"
)

var ordeals = map[string]ordeal{
	"silence":                   {receiver.Silent, []string{timeout}},
	"deaf":                      {receiver.Deaf, []string{timeout}},
	"slow status line":          {receiver.ThenTrickle("HTTP/1.1 200 ", 50*time.Millisecond), []string{timeout}},
	"slow headers":              {receiver.ThenTrickle("HTTP/1.1 200 OK\r\nX: ", 50*time.Millisecond), []string{timeout}},
	"a byte a second":           {receiver.ThenTrickle(begun, time.Second), []string{delivered}},
	"a byte a second of a 500":  {receiver.ThenTrickle(begunBad, time.Second), []string{"HTTP 500"}},
	"endless body":              {receiver.ThenForever(begun, "x"), []string{delivered}},
	"endless body of a 500":     {receiver.ThenForever(begunBad, "x"), []string{"HTTP 500"}},
	"endless chunks":            {receiver.ThenForever(chunks, "1\r\nx\r\n"), []string{delivered}},
	"endless chunk extension":   {receiver.ThenForever(chunks+"1;", "x"), []string{delivered}},
	"chunk without measure":     {receiver.Then(chunks + "FFFFFFFFFFFFFFFFF\r\n"), []string{delivered}},
	"gzip bomb":                 {receiver.ThenForever(ungzipped, receiver.Bomb()), []string{delivered}},
	"endless status line":       {receiver.ThenForever("HTTP/1.1 200 ", "x"), []string{broken}},
	"endless header":            {receiver.ThenForever("HTTP/1.1 200 OK\r\nX: ", "x"), []string{broken}},
	"endless headers":           {receiver.ThenForever("HTTP/1.1 200 OK\r\n", "X: y\r\n"), []string{broken}},
	"huge header":               {receiver.Then("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 10<<20) + "\r\n\r\n"), []string{broken}},
	"endless hints":             {receiver.ThenForever("", hints), []string{broken}},
	"endless continue":          {receiver.ThenForever("", "HTTP/1.1 100 Continue\r\n\r\n"), []string{broken}},
	"endless noise":             {receiver.ThenForever("", "\x00\xff"), []string{broken}},
	"another protocol":          {receiver.Then(upgrade), []string{"HTTP 101"}},
	"another protocol, endless": {receiver.ThenForever(upgrade, "x"), []string{"HTTP 101"}},
	"not HTTP":                  {receiver.Then("SSH-2.0-OpenSSH_9.9\r\n"), []string{broken}},
	"HTTP/1.0 without length":   {receiver.ThenClose("HTTP/1.0 200 OK\r\n\r\nx"), []string{delivered}},
	"two lengths":               {receiver.Then("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n"), []string{broken}},
	"negative length":           {receiver.Then("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), []string{broken}},
	"unknown status":            {receiver.Then("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n"), []string{"HTTP 999"}},
	"two answers":               {receiver.Then(answer + answer), []string{delivered}},
	"early answer":              {receiver.Early(answer), []string{delivered}},
	"early answer of a 500":     {receiver.Early("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), []string{"HTTP 500"}},
	"reset at once":             {(*receiver.Conn).Reset, []string{broken, "connect_failure"}},
	"reset before headers":      {receiver.ThenReset(""), []string{broken}},
	"reset within headers":      {receiver.ThenReset("HTTP/1.1 200 OK\r\nX: "), []string{broken}},
	"reset within body":         {receiver.ThenReset(begun + "x"), []string{delivered, broken}},
	"hang-up before headers":    {receiver.ThenClose(""), []string{broken}},
	"hang-up within headers":    {receiver.ThenClose("HTTP/1.1 200 OK\r\nX: "), []string{broken}},
	"hang-up within body":       {receiver.ThenClose(begun + "x"), []string{delivered}},
}

// keepsOpen are the ordeals whose connection stays sound, or whose receiver does not see its
// end.
var keepsOpen = map[string]bool{"deaf": true, "early answer": true, "early answer of a 500": true, "unknown status": true}

// repeats is how many timers meet each ordeal.
const repeats = 2

// All ordeals at once. Each attempt ends in time with its expected end, its connection is
// closed, the process stays small, and a healthy receiver is called undisturbed.
func testReceivers(t *testing.T, g *ground) {
	healthy := receiver.New(t)
	calm := g.callHealthy(t, healthy, "before", 10)
	memory := watchMemory()
	checks := []check{{"healthy", func(t *testing.T) {
		require.Less(t, g.callHealthy(t, healthy, "meanwhile", 40), calm+late, "the healthy are served meanwhile")
	}}}
	for n := range repeats {
		for name := range ordeals {
			checks = append(checks, check{fmt.Sprint(name, " ", n), func(t *testing.T) { g.undergo(t, name, n) }})
		}
	}
	atOnce(t, checks)
	require.Less(t, memory.growth(), int64(memoryLimit))
	require.Eventually(t, func() bool { return attemptsUnderWay() == 0 }, grace, 10*time.Millisecond, "every slot is free")
	for _, call := range healthy.All() {
		require.Empty(t, call.Header.Get("Idempotency-Key"), "Go would resend the POST by itself")
		require.Empty(t, call.Header.Get("X-Idempotency-Key"))
	}
}

// check is the expected end of one timer.
type check struct {
	name string
	hold func(t *testing.T)
}

func atOnce(t *testing.T, checks []check) {
	t.Run("at once", func(t *testing.T) {
		for _, c := range checks {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.hold(t)
			})
		}
	})
}

func (g *ground) undergo(t *testing.T, name string, n int) {
	h, id := receiver.NewHostile(t, "127.0.0.1:0", ordeals[name].manner), idOf(name, n)
	want := ordeals[name].want
	g.book(target{id: id, url: "http://" + h.Addr + "/", timeout: timeoutFor(want)})
	timer := g.end(t, id)
	inTime(t, timer, h.First(), timeoutFor(want))
	require.Contains(t, want, message(timer))
	require.Equal(t, 1, h.Accepted())
	require.LessOrEqual(t, len(h.Posts()), 1)
	if !keepsOpen[name] {
		require.Eventually(t, func() bool { return h.Open() == 0 }, grace, 10*time.Millisecond, "the connection is let go")
	}
}

// inTime checks an attempt against its timeout, from its first sign.
func inTime(t *testing.T, timer testenv.Timer, heard time.Time, timeout time.Duration) {
	t.Helper()
	ended := timer.DeliveredAt
	if timer.Status != delivered {
		ended = timer.LastFailure.At
	}
	require.Less(t, ended.Sub(heard), timeout+grace, "the slot is free again")
}

// callHealthy books timers of another business type, a tenth of a second apart, awaits them,
// and returns the median lateness.
func (g *ground) callHealthy(t *testing.T, r *receiver.Receiver, when string, n int) time.Duration {
	t.Helper()
	const kind = "healthy"
	var late []time.Duration
	for i := range n {
		g.add(testenv.JSON{
			"business_type": kind, "business_id": idOf(when, i), "delay": fmt.Sprint(i*100, "ms"), "callback": testenv.JSON{"url": r.URL},
		})
	}
	for i := range n {
		id := idOf(when, i)
		timer := g.endOf(t, kind+"/"+id)
		require.Equal(t, delivered, message(timer))
		require.Equal(t, 1, timer.Attempts)
		require.Len(t, r.Calls(id), 1)
		late = append(late, time.Duration(*timer.LatenessMS)*time.Millisecond)
	}
	slices.Sort(late)
	return late[n/2]
}

// idOf makes a business id of words.
func idOf(words ...any) string {
	return strings.NewReplacer(" ", "-", ",", "", "/", "-", "[", "=", "]", "=").Replace(strings.TrimSpace(fmt.Sprintln(words...)))
}

// The negative controls: each oracle finds what it must find.
func TestOraclesSee(t *testing.T) {
	t.Run("a slot that is held", func(t *testing.T) {
		g := newGround(t)
		h := receiver.NewHostile(t, "127.0.0.1:0", receiver.Silent)
		g.book(target{id: "patient", url: "http://" + h.Addr + "/", timeout: short + grace + time.Second})
		require.Eventually(t, func() bool { return attemptsUnderWay() == 1 }, testenv.Patience, 10*time.Millisecond)
		require.Eventually(t, func() bool { return h.Open() == 1 }, testenv.Patience, 10*time.Millisecond, "connecting takes a moment")
		require.Greater(t, g.end(t, "patient").LastFailure.At.Sub(h.First()), short+grace)
	})
	t.Run("a process that grows", func(t *testing.T) {
		h := receiver.NewHostile(t, "127.0.0.1:0", receiver.ThenForever(ungzipped, receiver.Bomb()))
		memory := watchMemory()
		require.NoError(t, readAll("http://"+h.Addr, 2*memoryLimit))
		require.Greater(t, memory.growth(), int64(memoryLimit))
	})
	t.Run("a request that the transport resends", func(t *testing.T) {
		h := receiver.NewHostile(t, "127.0.0.1:0", onceThenGone)
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		for n := range 2 {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+h.Addr, strings.NewReader("x"))
			require.NoError(t, err)
			request.Header.Set("Idempotency-Key", "1")
			response, err := transport.RoundTrip(request)
			require.NoError(t, err, "call %d", n)
			_ = response.Body.Close()
		}
		require.Len(t, h.Posts(), 3, "the second call came twice")
	})
	t.Run("a proxy from the environment", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}, Timeout: 100 * time.Millisecond}
		_, err := client.Get("http://good" + zone + "/") //nolint:noctx // the client has a timeout
		require.Error(t, err)
		require.True(t, proxyAsked(t))
	})
}

func testProxy(t *testing.T) { require.False(t, proxyAsked(t)) }

// proxyAsked reports whether there was a connection to the proxy.
func proxyAsked(t *testing.T) bool {
	t.Helper()
	require.NoError(t, proxy.(*net.TCPListener).SetDeadline(time.Now().Add(10*time.Millisecond)))
	conn, err := proxy.Accept()
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}
