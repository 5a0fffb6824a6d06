package httpsend

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
)

// script defines the receiver's answer to the n-th request (from 1) on its c-th connection
// (from 1): the bytes of the answer, and whether it then closes the connection.
type script func(connection, request int) (answer string, leave bool)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// wiretap is a receiver on a bare socket. It returns its URL, and every request
// as its bytes once a test has made them all.
func wiretap(t *testing.T, play script) (url string, heard func() []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	requests, done := make(chan string, 100), make(chan struct{})
	go func() {
		defer close(done)
		for connection := 1; ; connection++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			converse(conn, requests, func(n int) (string, bool) { return play(connection, n) })
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return "http://" + listener.Addr().String(), func() (all []string) {
		for {
			select {
			case request := <-requests:
				all = append(all, request)
			default:
				return all
			}
		}
	}
}

// converse reads the requests of one connection: their heads, and a body of one
// byte where the length says so.
func converse(conn net.Conn, requests chan<- string, play func(n int) (string, bool)) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	in := bufio.NewReader(conn)
	for n := 1; ; n++ {
		var request strings.Builder
		for !strings.HasSuffix(request.String(), "\r\n\r\n") {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			request.WriteString(line)
		}
		if strings.Contains(request.String(), "Content-Length: 1\r\n") {
			body, _ := in.ReadByte()
			request.WriteByte(body)
		}
		requests <- request.String()
		answer, leave := play(n)
		if _, err := conn.Write([]byte(answer)); err != nil || leave {
			return
		}
	}
}

// A server that knows only Content-Length would read an empty chunk as the next request.
func TestNoPayloadIsSaidByItsLength(t *testing.T) {
	t.Parallel()
	url, heard := wiretap(t, func(int, int) (string, bool) { return ok, false })
	caller := callerTo(t, loopback)
	for _, body := range []string{"", "x", ""} {
		x := postBody(caller, url, body, time.Second)
		require.Equal(t, 200, x.Status)
	}
	requests := heard()
	require.Len(t, requests, 3)
	for i, length := range []string{"0", "1", "0"} {
		require.Contains(t, requests[i], "\r\nContent-Length: "+length+"\r\n")
		require.Equal(t, 1, strings.Count(requests[i], "Content-Length"))
		require.NotContains(t, requests[i], "Transfer-Encoding")
	}
	require.True(t, strings.HasSuffix(requests[0], "\r\n\r\n"))
	require.True(t, strings.HasSuffix(requests[1], "\r\n\r\nx"))
}

// A URL is requested as it was written: its parameters may be a signature.
func TestParametersStayByteForByte(t *testing.T) {
	t.Parallel()
	url, heard := wiretap(t, func(int, int) (string, bool) { return ok, false })
	caller := callerTo(t, loopback)
	for _, query := range []string{"?token=100%&b=x%20y&a;c", "?", "?a&&b=&c=%2f%2F+%zz"} {
		require.Equal(t, 200, postBody(caller, url+"/items"+query, "x", time.Second).Status)
		require.Contains(t, heard()[0], " /items"+query+" HTTP/1.1\r\n")
	}
}

// A receiver may close a kept connection at any time. A request without the beginning of an
// answer is sent once more, on a new connection, and never twice.
func TestKeptConnectionThatBreaks(t *testing.T) {
	t.Parallel()
	type turn struct {
		answer string
		leave  bool
	}
	gone, done := turn{"", true}, turn{ok, false}
	for name, c := range map[string]struct {
		turns   map[[2]int]turn // of a connection and a request on it; else the answer is 200
		want    delivery.Answer // to the second call
		sent    int             // by the second call
		resent  int
		timeout time.Duration
	}{
		"kept":                       {map[[2]int]turn{}, delivery.Answer{Delivered: true, Status: 200}, 1, 0, time.Second},
		"closed without a word":      {map[[2]int]turn{{1, 2}: gone}, delivery.Answer{Delivered: true, Status: 200}, 2, 1, time.Second},
		"closed twice":               {map[[2]int]turn{{1, 2}: gone, {2, 1}: gone}, delivery.Answer{Class: delivery.BrokenAnswer}, 2, 1, time.Second},
		"closed within the answer":   {map[[2]int]turn{{1, 2}: {"HTTP/1.1 2", true}}, delivery.Answer{Class: delivery.BrokenAnswer}, 1, 0, time.Second},
		"a new one that is closed":   {map[[2]int]turn{{1, 1}: {ok, true}, {2, 1}: gone}, delivery.Answer{Class: delivery.BrokenAnswer}, 1, 0, time.Second},
		"silent until time is up":    {map[[2]int]turn{{1, 2}: {"silence", true}}, delivery.Answer{Class: delivery.Timeout}, 1, 0, 50 * time.Millisecond},
		"silent once sent once more": {map[[2]int]turn{{1, 2}: gone, {2, 1}: {"silence", true}}, delivery.Answer{Class: delivery.Timeout}, 2, 1, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			url, heard := wiretap(t, func(connection, request int) (string, bool) {
				next, known := c.turns[[2]int{connection, request}]
				if !known {
					next = done
				}
				if next.answer == "silence" {
					<-over
				}
				return next.answer, next.leave
			})
			resent := 0
			caller := callerTo(t, loopback)
			caller.resent = func() { resent++ }
			require.Equal(t, 200, postTo(caller, url, time.Second).Status)
			if c.turns[[2]int{1, 1}].leave {
				caller.transports.common.transport.CloseIdleConnections() // as the transport does once it has seen it
			}
			x := postTo(caller, url, c.timeout)
			close(over)
			require.Equal(t, c.want, x.Answer)
			require.Equal(t, c.resent, resent)
			require.False(t, x.FirstByte.IsZero())
			requests := heard()[1:]
			require.Len(t, requests, c.sent)
			for _, request := range requests { // the same except for keeping no connection
				require.Equal(t, requests[0], strings.Replace(request, "Connection: close\r\n", "", 1))
			}
		})
	}
}
