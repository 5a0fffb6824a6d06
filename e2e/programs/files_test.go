package programs

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// files is how many files the process of these tests may open.
const files = 400

// A process that may open few files rings its timers all the same, and uses up no attempt.
func TestOutOfFiles(t *testing.T) {
	t.Parallel()
	env, r := process.NewStandalone(t), receiver.New(t)
	env.Files = files
	server := env.Start()
	t.Run("idle connections leave room for callbacks", func(t *testing.T) { ringsBesideIdleConnections(t, env, r) })
	t.Run("no attempt is used up", func(t *testing.T) { usesUpNoAttempt(t, env, server, r) })
}

// ringsBesideIdleConnections has the listener hold more idle connections than files may be open.
func ringsBesideIdleConnections(t *testing.T, env *process.Standalone, r *receiver.Receiver) {
	kind := sample.Type(t)
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": r.URL}, "retry": contract.JSON{"steps": []string{}}})
	for range files + 20 {
		conn, err := net.Dial("tcp", env.Addr("WAKECALL_HTTP_ADDR"))
		require.NoError(t, err, "the kernel takes it")
		t.Cleanup(func() { _ = conn.Close() })
	}
	env.Add(contract.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	env.Await(kind+"/1", string(timer.Delivered))
}

// usesUpNoAttempt rings more timers than there is room to call. With a ladder of one attempt, all
// of them are delivered once there is room.
func usesUpNoAttempt(t *testing.T, env *process.Standalone, server *process.Process, r *receiver.Receiver) {
	kind := sample.Type(t)
	release := make(chan struct{})
	held := r.On("/held", func(_ http.ResponseWriter, q *http.Request, _ int) {
		select {
		case <-release:
		case <-q.Context().Done():
		}
	})
	env.Policy(kind, contract.JSON{
		"callback": contract.JSON{"url": held, "timeout": "1m"}, "retry": contract.JSON{"steps": []string{}}, "limits": contract.JSON{"in_flight": 1000},
	})
	bookings := make([]client.Booking, files)
	for n := range bookings {
		bookings[n] = client.Booking{Key: wire.Key{BusinessType: kind, BusinessID: fmt.Sprint(n)}, Terms: client.Terms{Delay: client.After(0)}}
	}
	sample.BookBatch(t, env.Client(), bookings)
	require.Eventually(t, func() bool { return server.OpenFiles() >= files }, process.Patience, process.Interval, "every file is open: %d", server.OpenFiles())
	close(release)
	for n := range files {
		require.Equal(t, 1, env.Await(kind+"/"+fmt.Sprint(n), string(timer.Delivered)).Attempts)
	}
	require.Len(t, r.To("/held"), files)
}
