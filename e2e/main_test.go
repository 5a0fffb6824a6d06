package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wakecall/wakecall/e2e/testenv"
)

// temporalAddr is a real server that the tests of this package share, with a
// worker. A test that breaks one of them starts its own.
var temporalAddr string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "wakecall-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	addr, stop, err := testenv.Temporal(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	stopWorker, err := testenv.StartWorker(addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	temporalAddr = addr
	code := m.Run()
	stopWorker()
	if leaked := testenv.Leaked(); code == 0 && len(leaked) > 0 {
		fmt.Fprintf(os.Stderr, "goroutines of ours outlived their test environment:\n%s\n", strings.Join(leaked, "\n\n"))
		code = 1
	}
	return code
}
