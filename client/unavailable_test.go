package client

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/problem"
)

// Only faults of the network or of Wakecall may pass.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	_, missing := os.ReadFile("/nowhere/at/all")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	_, taken := net.Listen("tcp", listener.Addr().String())
	require.Error(t, taken)
	_, refused := net.Dial("tcp", "127.0.0.1:1")
	require.Error(t, refused)
	for _, err := range []error{missing, taken, errors.New("no"), fmt.Errorf("reading: %w", missing)} {
		require.False(t, Unavailable(err), "%v", err)
	}
	for _, err := range []error{refused, &url.Error{Op: "Get", URL: "http://h/", Err: refused}, &Problem{Document: problem.Document{Status: 503}}, os.ErrDeadlineExceeded} {
		require.True(t, Unavailable(err), "%v", err)
	}
}
