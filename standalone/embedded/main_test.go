package embedded

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lent is the server that the tests of Temporal's own behaviour share, with its directory.
var lent struct {
	sync.Once
	Options
	*Server
}

// shared starts it for the first of them, and returns its address.
func shared(t *testing.T) string {
	t.Helper()
	lent.Do(func() {
		lent.Options = smallest(t)
		lent.DataDir, lent.Shards = lentDir, 4
		lent.Server = running(t, lent.Options)
	})
	require.NotNil(t, lent.Server, "it has started")
	return lent.Addr
}

// lentDir outlives the test that starts the server.
var lentDir string

func TestMain(m *testing.M) {
	var err error
	if lentDir, err = os.MkdirTemp("", "wakecall-embedded-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if lent.Server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_ = lent.Stop(ctx)
		cancel()
	}
	_ = os.RemoveAll(lentDir)
	os.Exit(code)
}

// queues counts the names handed out: a test that runs again must not meet its last run.
var queues atomic.Int64

// queueOf makes a name from the test's, another one at each call.
func queueOf(t *testing.T) string {
	return strings.ReplaceAll(t.Name(), "/", ".") + "-" + strconv.FormatInt(queues.Add(1), 10)
}
