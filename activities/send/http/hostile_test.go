package httpsend

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/activities/send/sendtest"
	"github.com/wakecall/wakecall/core/delivery"
)

const (
	answer    = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	begun     = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
	begunBad  = "HTTP/1.1 500 Oops\r\nContent-Length: 1000000000\r\n\r\n"
	chunks    = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	ungzipped = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
	hints     = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	upgrade   = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: silence\r\n\r\n"
)

// ordeal is a receiver's behaviour, and the end of an attempt at it. If a reset may overtake an
// answer, more than one end is right.
type ordeal struct {
	manner sendtest.Manner
	want   []string
}

const (
	delivered = "delivered"
	broken    = string(delivery.BrokenAnswer)
	timeout   = string(delivery.Timeout)
	badTLS    = string(delivery.TLSFailure)
	noTLS     = string(delivery.TLSProtocol)
	blocked   = "blocked_address"
	noName    = "dns_failure"
	// grace is the most time beyond the timeout until the slot is free, on a busy machine.
	grace = 30 * time.Second
)

var ordeals = map[string]ordeal{
	"silence":                   {sendtest.Silent, []string{timeout}},
	"deaf":                      {sendtest.Deaf, []string{timeout}},
	"slow status line":          {sendtest.ThenTrickle("HTTP/1.1 200 ", 50*time.Millisecond), []string{timeout}},
	"slow headers":              {sendtest.ThenTrickle("HTTP/1.1 200 OK\r\nX: ", 50*time.Millisecond), []string{timeout}},
	"a byte a second":           {sendtest.ThenTrickle(begun, time.Second), []string{delivered}},
	"a byte a second of a 500":  {sendtest.ThenTrickle(begunBad, time.Second), []string{"HTTP 500"}},
	"endless body":              {sendtest.ThenForever(begun, "x"), []string{delivered}},
	"endless body of a 500":     {sendtest.ThenForever(begunBad, "x"), []string{"HTTP 500"}},
	"endless chunks":            {sendtest.ThenForever(chunks, "1\r\nx\r\n"), []string{delivered}},
	"endless chunk extension":   {sendtest.ThenForever(chunks+"1;", "x"), []string{delivered}},
	"chunk without measure":     {sendtest.Then(chunks + "FFFFFFFFFFFFFFFFF\r\n"), []string{delivered}},
	"gzip bomb":                 {sendtest.ThenForever(ungzipped, sendtest.Bomb()), []string{delivered}},
	"endless status line":       {sendtest.ThenForever("HTTP/1.1 200 ", "x"), []string{broken}},
	"endless header":            {sendtest.ThenForever("HTTP/1.1 200 OK\r\nX: ", "x"), []string{broken}},
	"endless headers":           {sendtest.ThenForever("HTTP/1.1 200 OK\r\n", "X: y\r\n"), []string{broken}},
	"huge header":               {sendtest.Then("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 10<<20) + "\r\n\r\n"), []string{broken}},
	"endless hints":             {sendtest.ThenForever("", hints), []string{broken}},
	"endless continue":          {sendtest.ThenForever("", "HTTP/1.1 100 Continue\r\n\r\n"), []string{broken}},
	"endless noise":             {sendtest.ThenForever("", "\x00\xff"), []string{broken}},
	"another protocol":          {sendtest.Then(upgrade), []string{"HTTP 101"}},
	"another protocol, endless": {sendtest.ThenForever(upgrade, "x"), []string{"HTTP 101"}},
	"not HTTP":                  {sendtest.Then("SSH-2.0-OpenSSH_9.9\r\n"), []string{broken}},
	"HTTP/1.0 without length":   {sendtest.ThenClose("HTTP/1.0 200 OK\r\n\r\nx"), []string{delivered}},
	"two lengths":               {sendtest.Then("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n"), []string{broken}},
	"negative length":           {sendtest.Then("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), []string{broken}},
	"unknown status":            {sendtest.Then("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n"), []string{"HTTP 999"}},
	"two answers":               {sendtest.Then(answer + answer), []string{delivered}},
	"early answer":              {sendtest.Early(answer), []string{delivered}},
	"early answer of a 500":     {sendtest.Early("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), []string{"HTTP 500"}},
	"reset at once":             {(*sendtest.Conn).Reset, []string{broken, "connect_failure"}},
	"reset before headers":      {sendtest.ThenReset(""), []string{broken}},
	"reset within headers":      {sendtest.ThenReset("HTTP/1.1 200 OK\r\nX: "), []string{broken}},
	"reset within body":         {sendtest.ThenReset(begun + "x"), []string{delivered, broken}},
	"hang-up before headers":    {sendtest.ThenClose(""), []string{broken}},
	"hang-up within headers":    {sendtest.ThenClose("HTTP/1.1 200 OK\r\nX: "), []string{broken}},
	"hang-up within body":       {sendtest.ThenClose(begun + "x"), []string{delivered}},
}

// keepsOpen are the ordeals whose connection stays sound, or whose receiver does not see its
// end.
var keepsOpen = map[string]bool{"deaf": true, "early answer": true, "early answer of a 500": true, "unknown status": true}

// attempt sends what does not fit into one packet, and returns the end of it in one word. An
// attempt ends in time, whatever its receiver does.
func attempt(t *testing.T, caller *Transport, url string, want []string) (end string) {
	t.Helper()
	limit := 20 * time.Second
	if slices.Contains(want, timeout) {
		limit = 5 * time.Second // in which a busy machine connects and sends
	}
	began := time.Now()
	x := postBody(caller, url, strings.Repeat("x", 60<<10), limit)
	require.Less(t, time.Since(began), limit+grace, "the slot is free again")
	require.Contains(t, want, endOf(x))
	return endOf(x)
}

func endOf(x send.Outcome) string {
	if x.Delivered {
		return delivered
	}
	class, _, _ := strings.Cut(x.Describe(), ":")
	return class
}

var onlyOne = netip.MustParsePrefix("127.0.0.1/32")

func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	caller := callerTo(t, onlyOne)
	for name, c := range ordeals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sendtest.NewHostile(t, "127.0.0.1:0", c.manner)
			attempt(t, caller, "http://"+h.Addr+"/", c.want)
			require.Equal(t, 1, h.Accepted())
			require.LessOrEqual(t, len(h.Posts()), 1)
			if !keepsOpen[name] {
				require.Eventually(t, func() bool { return h.Open() == 0 }, grace, 10*time.Millisecond, "the connection is let go")
			}
		})
	}
}

// What goes wrong beside the certificate, which TestBadTLS has, leaks no body.
func TestHostileTLS(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t, "ours")
	certificate, key := ours.sign(func(c *x509.Certificate) { c.DNSNames = []string{"good" + zone} })
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	require.NoError(t, err)
	caller := New(Config{Allowed: []netip.Prefix{onlyOne}, Roots: ours.pool(), Resent: func() {}})
	t.Cleanup(caller.Close)
	over := func(manner sendtest.Manner, protocols ...string) sendtest.Manner {
		return sendtest.OverTLS(&tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: protocols}, manner)
	}
	for name, c := range map[string]ordeal{
		"in order":                {over(sendtest.Then(answer)), []string{delivered}},
		"plain HTTP":              {func(c *sendtest.Conn) { c.Say(answer) }, []string{noTLS}},
		"silent handshake":        {func(*sendtest.Conn) {}, []string{timeout}},
		"reset handshake":         {resetHandshake, []string{badTLS, broken}},
		"HTTP/2, silent":          {over(func(*sendtest.Conn) {}, "h2"), []string{timeout}},
		"HTTP/2, noise":           {over(func(c *sendtest.Conn) { c.Say(answer) }, "h2"), []string{broken}},
		"HTTP/2, pings":           {over(pings, "h2"), []string{timeout, broken}},
		"HTTP/2, endless headers": {over(continuation, "h2"), []string{broken, timeout}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sendtest.NewHostile(t, "127.0.0.1:0", c.manner)
			_, port, _ := net.SplitHostPort(h.Addr)
			if attempt(t, caller, "https://good"+zone+":"+port+"/", c.want) != delivered {
				require.Empty(t, h.Posts(), "no body was delivered")
			}
		})
	}
}

// resetHandshake lets it begin: the kernel may report an earlier reset as a connection that
// was never made.
func resetHandshake(c *sendtest.Conn) {
	_, _ = c.Read(make([]byte, 1))
	c.Reset()
}

// Frames of HTTP/2 (RFC 9113, section 4.1).
const (
	frameSettings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	framePing     = "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"
	// The headers of stream 1: ":status: 200", and more to come.
	frameHeaders  = "\x00\x00\x01\x01\x00\x00\x00\x00\x01\x88"
	frameContinue = "\x00\x00\x04\x09\x00\x00\x00\x00\x01\x00\x01a\x00"
)

func pings(c *sendtest.Conn) {
	for c.Say(frameSettings); c.Say(framePing); {
	}
}

func continuation(c *sendtest.Conn) {
	c.Say(frameSettings)
	first := make([]byte, 4<<10)
	for range 3 { // the preface, the settings, the request
		if _, err := c.Read(first); err != nil {
			return
		}
	}
	for c.Say(frameHeaders); c.Say(frameContinue); {
	}
}

// Name servers that misbehave end an attempt in time, and of several addresses an allowed one is
// called.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	names.hangFor(t)
	caller, h := callerTo(t, onlyOne), sendtest.NewHostile(t, "127.0.0.1:0", sendtest.Always(answer))
	_, port, _ := net.SplitHostPort(h.Addr)
	for name, want := range map[string]string{
		"good": delivered, "two": delivered, "dual": delivered,
		"hang": timeout, "servfail": noName, "garbage": noName, "loop": noName, "nobody": noName,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attempt(t, caller, "http://"+name+zone+":"+port+"/", []string{want})
		})
	}
}

// A name with an allowed address that is down for now is tried again. A forbidden address beside it,
// as a network with NAT64 gives every name, does not make the name forbidden.
func TestAnAllowedAddressThatIsDown(t *testing.T) {
	t.Parallel()
	const port = "1" // nothing listens there
	caller := callerTo(t, onlyOne)
	for name, want := range map[string]string{
		"good": "connect_failure", "two": "connect_failure", "dual": "connect_failure", "loopback": blocked, "six": blocked,
	} {
		attempt(t, caller, "http://"+name+zone+":"+port+"/", []string{want})
	}
}

// The addresses on loopback that may not be called.
const (
	forbidden4 = "127.0.0.2"
	forbidden6 = "::1"
)

// No URL, name server or receiver causes a connection to an address that was not allowed. The
// forbidden addresses listen, and count.
func TestForbiddenAddressesAreNeverReached(t *testing.T) {
	t.Parallel()
	right := sendtest.NewHostile(t, "127.0.0.1:0", sendtest.Always(answer))
	_, port, _ := net.SplitHostPort(right.Addr)
	var listeners []*sendtest.Hostile
	for _, host := range []string{forbidden4, forbidden6} {
		listeners = append(listeners, sendtest.NewHostile(t, net.JoinHostPort(host, port), sendtest.Always(answer)))
	}
	caller := callerTo(t, onlyOne)
	hosts := map[string][]string{"localhost.": {blocked, noName, delivered}}
	for _, name := range []string{"loopback", "six", "mapped", "nat64", "sixtofour", "any", "any6", "private", "metadata", "cloud", "flood"} {
		hosts[name+zone] = []string{blocked}
	}
	for _, literal := range []string{
		forbidden4, "[::1]", "[::ffff:127.0.0.2]", "[64:ff9b::7f00:2]", "[2002:7f00:2::]", "0.0.0.0", "[::]", "169.254.169.254",
		"127.2", "2130706434", "0x7f000002", "0177.0.0.2", "127.0.0.2.",
	} {
		hosts[literal] = []string{blocked, noName}
	}
	redirects, n := []int{300, 301, 302, 303, 307, 308}, 0
	for host, want := range hosts {
		target := "http://" + host + ":" + port + "/"
		attempt(t, caller, target, want)
		n++
		status := redirects[n%len(redirects)]
		h := sendtest.NewHostile(t, "127.0.0.1:0", sendtest.Then(fmt.Sprintf(
			"HTTP/1.1 %d X\r\nLocation: %[2]s\r\nRefresh: 0; url=%[2]s\r\nAlt-Svc: http/1.1=%[3]q\r\nContent-Length: 0\r\n\r\n", status, target, host+":"+port)))
		attempt(t, caller, "http://"+h.Addr, []string{fmt.Sprint("HTTP ", status)})
	}
	for range 30 {
		attempt(t, caller, "http://rebind"+zone+":"+port+"/", []string{delivered, blocked})
	}
	require.NotZero(t, right.Accepted(), "a name that was bound to the allowed address reached it")
	for _, listener := range listeners {
		require.Zero(t, listener.Accepted())
		conn, err := net.Dial("tcp", listener.Addr)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return listener.Accepted() == 1 }, grace, time.Millisecond, "the oracle sees a connection")
		require.NoError(t, conn.Close())
	}
}
