package unbounded

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

func TestEventsAreSentAtOnce(t *testing.T) {
	t.Parallel()
	e := echo.New()
	next, done := make(chan struct{}), make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream, err := OpenEvents(e.NewContext(r, w))
		if err == nil {
			<-next
			err = errors.Join(stream.Send("progress", map[string]string{"text": "a\nb"}), stream.SendComment())
		}
		done <- err
		<-next
	}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL) //nolint:noctx // it ends with the server
	require.NoError(t, err)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	lines := bufio.NewScanner(answer.Body)
	read := func(want ...string) {
		for _, line := range append(want, "") {
			require.True(t, lines.Scan())
			require.Equal(t, line, lines.Text())
		}
	}
	read("retry: 1000")
	next <- struct{}{}
	read("event: progress", `data: {"text":"a\nb"}`)
	read(":")
	require.NoError(t, <-done)
	close(next)
	require.NoError(t, answer.Body.Close())
}

// A reader who has gone, or does not read, ends the stream.
func TestEventsThatNobodyReads(t *testing.T) {
	t.Parallel()
	e := echo.New()
	done := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream, err := OpenEvents(e.NewContext(r, w))
		for err == nil {
			err = stream.Send("progress", "x")
		}
		done <- err
	}))
	defer server.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Error(t, <-done)
}

func TestEventsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	stream, err := OpenEvents(echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), recorder))
	require.NoError(t, err)
	require.Error(t, stream.Send("progress", make(chan int)))
	require.Equal(t, "retry: 1000\n\n", recorder.Body.String())
	require.True(t, recorder.Flushed)
}
