package hostile

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// The addresses on loopback that Wakecall may not call.
const (
	forbidden4 = "127.0.0.2"
	forbidden6 = "::1"
)

const pageHost = "good" + zone

func testCertificates(t *testing.T, g *ground) {
	stranger, err := newAuthority("somebody")
	require.NoError(t, err)
	hour := time.Hour
	good := validity{pageHost, -hour, hour}
	var checks []check
	for name, c := range map[string]struct {
		by     *authority
		shown  validity
		adjust func(*tls.Config)
		manner receiver.Manner
		naked  bool // without TLS
		want   []string
	}{
		"in order":                {want: []string{delivered}},
		"expired":                 {shown: validity{pageHost, -2 * hour, -hour}, want: []string{expired}},
		"not yet valid":           {shown: validity{pageHost, hour, 2 * hour}, want: []string{expired}},
		"of another host":         {shown: validity{"other" + zone, -hour, hour}, want: []string{wrongName}},
		"of an unknown authority": {by: stranger, want: []string{unknown}},
		"old version": {adjust: func(c *tls.Config) {
			c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		}, want: []string{noTLS}},
		"demands one of ours":     {adjust: func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }, want: []string{noClient, broken}},
		"plain HTTP":              {naked: true, manner: func(c *receiver.Conn) { c.Say(answer) }, want: []string{noTLS}},
		"silent handshake":        {naked: true, manner: func(*receiver.Conn) {}, want: []string{timeout}},
		"reset handshake":         {naked: true, manner: resetHandshake, want: []string{badTLS, broken}},
		"HTTP/2, silent":          {adjust: http2, manner: func(*receiver.Conn) {}, want: []string{timeout}},
		"HTTP/2, noise":           {adjust: http2, manner: func(c *receiver.Conn) { c.Say(answer) }, want: []string{broken}},
		"HTTP/2, pings":           {adjust: http2, manner: pings, want: []string{timeout, broken}},
		"HTTP/2, endless headers": {adjust: http2, manner: continuation, want: []string{broken, timeout}},
	} {
		if c.by == nil {
			c.by = ca
		}
		if c.shown.host == "" {
			c.shown = good
		}
		config, err := c.by.sign(c.shown)
		require.NoError(t, err)
		if c.adjust != nil {
			c.adjust(config)
		}
		if c.manner == nil {
			c.manner = receiver.Then(answer)
		}
		if !c.naked {
			c.manner = receiver.OverTLS(config, c.manner)
		}
		checks = append(checks, check{name, func(t *testing.T) {
			h, id := receiver.NewHostile(t, "127.0.0.1:0", c.manner), idOf("certificate", name)
			g.book(target{id: id, url: "https://" + pageHost + ":" + loopback.Port(h.Addr) + "/", timeout: timeoutFor(c.want)})
			timer := g.end(t, id)
			inTime(t, timer, h.First(), timeoutFor(c.want))
			require.Contains(t, c.want, message(timer))
			if timer.Status != delivered {
				require.Empty(t, h.Posts(), "no body was delivered")
			}
		}})
	}
	atOnce(t, checks)
}

// resetHandshake lets it begin: the kernel may report an earlier reset as a connection that
// was never made.
func resetHandshake(c *receiver.Conn) {
	_, _ = c.Read(make([]byte, 1))
	c.Reset()
}

func http2(c *tls.Config) { c.NextProtos = []string{"h2"} }

// Frames of HTTP/2 (RFC 9113, section 4.1).
const (
	frameSettings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	framePing     = "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"
	// The headers of stream 1: ":status: 200", and more to come.
	frameHeaders  = "\x00\x00\x01\x01\x00\x00\x00\x00\x01\x88"
	frameContinue = "\x00\x00\x04\x09\x00\x00\x00\x00\x01\x00\x01a\x00"
)

func pings(c *receiver.Conn) {
	for c.Say(frameSettings); c.Say(framePing); {
	}
}

func continuation(c *receiver.Conn) {
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

func testNames(t *testing.T, g *ground) {
	port := loopback.Port(strings.TrimPrefix(receiver.New(t).URL, "http://"))
	var checks []check
	for name, want := range map[string]string{
		"good": delivered, "two": delivered, "dual": delivered,
		"hang": timeout, "servfail": noName, "garbage": noName, "loop": noName, "nobody": noName,
	} {
		checks = append(checks, check{name, func(t *testing.T) {
			id := idOf("name", name)
			limit := timeoutFor([]string{want})
			g.book(target{id: id, url: "http://" + name + zone + ":" + port + "/", timeout: limit})
			timer := g.end(t, id)
			inTime(t, timer, names.first(name), limit)
			require.Equal(t, want, message(timer))
		}})
	}
	atOnce(t, checks)
}

// No client, name server or receiver can cause a connection to a forbidden address. The
// forbidden addresses listen, and count.
func testForbidden(t *testing.T, g *ground) {
	port := loopback.Port(loopback.Addr())
	listeners := map[string]*receiver.Hostile{}
	for _, host := range []string{"127.0.0.1", forbidden4, forbidden6} {
		listeners[host] = receiver.NewHostile(t, net.JoinHostPort(host, port), receiver.Always(answer))
	}
	forbidden := map[string][]string{}
	for _, name := range []string{
		"loopback", "six", "mapped", "nat64", "sixtofour", "any", "any6", "private", "metadata", "cloud", "flood",
	} {
		forbidden[name+zone] = []string{blocked}
	}
	forbidden["localhost."] = []string{blocked, noName, delivered}
	literal := []string{
		forbidden4, "[::1]", "[::ffff:127.0.0.2]", "[64:ff9b::7f00:2]", "[2002:7f00:2::]", "0.0.0.0", "[::]", "169.254.169.254",
		"127.2", "2130706434", "0x7f000002", "0177.0.0.2", "127.0.0.2.",
	}
	redirects := []int{300, 301, 302, 303, 307, 308}
	var checks []check
	expect := func(name, url string, want ...string) {
		checks = append(checks, check{name, func(t *testing.T) {
			id := idOf("forbidden", name)
			g.book(target{id: id, url: url, timeout: long})
			require.Contains(t, want, message(g.end(t, id)))
		}})
	}
	for _, host := range literal { // refused at booking; a receiver may still name it
		forbidden[host] = nil
	}
	for host, want := range forbidden {
		target := "http://" + host + ":" + port + "/"
		if want == nil {
			require.Equal(t, http.StatusUnprocessableEntity, g.Do("POST", "/v1/timers", testenv.JSON{
				"business_type": g.kind, "business_id": "literal", "delay": "0s", "callback": testenv.JSON{"url": target},
			}).Status, host)
		} else {
			expect("calls "+host, target, want...)
		}
		status := redirects[len(checks)%len(redirects)]
		h := receiver.NewHostile(t, "127.0.0.1:0", receiver.Then(fmt.Sprintf(
			"HTTP/1.1 %d X\r\nLocation: %[2]s\r\nRefresh: 0; url=%[2]s\r\nAlt-Svc: http/1.1=%[3]q\r\nContent-Length: 0\r\n\r\n",
			status, target, host+":"+port)))
		expect("sends to "+host, "http://"+h.Addr, fmt.Sprint("HTTP ", status))
	}
	for n := range 30 {
		expect(fmt.Sprint("rebinds ", n), "http://rebind"+zone+":"+port+"/", delivered, blocked)
	}
	atOnce(t, checks)
	require.Zero(t, listeners[forbidden4].Accepted())
	require.Zero(t, listeners[forbidden6].Accepted())
	require.NotZero(t, listeners["127.0.0.1"].Accepted(), "a name that was bound to the allowed address reached it")

	for _, host := range []string{forbidden4, forbidden6} {
		conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return listeners[host].Accepted() == 1 }, time.Second, time.Millisecond, "the oracle sees a connection")
		_ = conn.Close()
	}
}

// onceThenGone answers the first request of a connection, and hangs up on the second once it
// has read it.
func onceThenGone(c *receiver.Conn) {
	receiver.Then(answer)(c)
	receiver.ThenClose("")(c)
}

func testConnections(t *testing.T, g *ground) {
	t.Run("one that breaks when it is used again sends one POST more", func(t *testing.T) {
		h := receiver.NewHostile(t, "127.0.0.1:0", onceThenGone)
		g.book(target{id: "first", url: "http://" + h.Addr, timeout: long})
		require.Equal(t, delivered, message(g.end(t, "first")))
		g.book(target{id: "second", url: "http://" + h.Addr, timeout: long})
		require.Equal(t, delivered, message(g.end(t, "second")))
		require.Equal(t, 2, h.Accepted(), "the connection was used again, and then a new one")
		posts := h.Posts()
		require.Len(t, posts, 3)
		for _, name := range []string{"webhook-id", "webhook-timestamp", "Wakecall-Attempt"} {
			require.Equal(t, posts[1].Header.Get(name), posts[2].Header.Get(name), name)
		}
	})
	t.Run("one that is closed between calls is replaced", func(t *testing.T) {
		h := receiver.NewHostile(t, "127.0.0.1:0", receiver.ThenClose(answer))
		const n = 5
		for i := range n {
			id := fmt.Sprint("between-", i)
			g.book(target{id: id, url: "http://" + h.Addr, timeout: long})
			require.Equal(t, delivered, message(g.end(t, id)))
		}
		sent := map[string]int{}
		for _, post := range h.Posts() {
			sent[post.Header.Get("webhook-id")+" "+post.Header.Get("Wakecall-Attempt")]++
		}
		for attempt, times := range sent {
			require.LessOrEqual(t, times, 2, attempt)
		}
		require.Len(t, sent, n)
	})
}
