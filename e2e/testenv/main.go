package testenv

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// Addr is a real server that the tests of a package share, with a worker. A test that breaks
// one of them starts its own.
var Addr string

// Main runs the tests of a package on their own server at [Addr]. It returns the exit code.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "wakecall-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	addr, stop, err := Temporal(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	stopWorker, err := StartWorker(addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	Addr = addr
	code := m.Run()
	stopWorker()
	if leaked := Leaked(); code == 0 && len(leaked) > 0 {
		fmt.Fprintf(os.Stderr, "goroutines of ours outlived their test environment:\n%s\n", strings.Join(leaked, "\n\n"))
		code = 1
	}
	return code
}

// Start returns an environment on the shared server, a receiver, and a business type for
// this test.
func Start(t testing.TB) (*Env, *receiver.Receiver, string) {
	return Open(t, Addr), receiver.New(t), sample.Type(t)
}
