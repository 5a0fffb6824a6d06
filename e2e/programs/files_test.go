package programs

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// files is how many files the process of these tests may open.
const files = 400

// A process whose listener holds more idle connections than it may open files rings its timers
// all the same.
func TestIdleConnectionsLeaveRoomForCallbacks(t *testing.T) {
	t.Parallel()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	env.Files = files
	env.Start()
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": r.URL}, "retry": contract.JSON{"steps": []string{}}})
	for range files + 20 {
		conn, err := net.Dial("tcp", env.Addr("WAKECALL_HTTP_ADDR"))
		require.NoError(t, err, "the kernel takes it")
		t.Cleanup(func() { _ = conn.Close() })
	}
	env.Add(contract.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	env.Await(kind+"/1", string(timer.Delivered))
}

// A process that is out of files uses up no attempt of the timers that it has no room to call:
// with a ladder of one attempt, all of them are delivered once there is room.
func TestOutOfFilesNoAttemptIsUsedUp(t *testing.T) {
	t.Parallel()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	env.Files = files
	server := env.Start()
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
	var timers []contract.JSON
	for n := range files {
		timers = append(timers, contract.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "0s"})
	}
	status, answer, err := env.Try("POST", "/v1/timers/batch", contract.JSON{"timers": timers})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, "%s", answer)
	require.Eventually(t, func() bool { return server.OpenFiles() >= files }, process.Patience, 20*time.Millisecond, "every file is open: %d", server.OpenFiles())
	close(release)
	for n := range files {
		require.Equal(t, 1, env.Await(kind+"/"+fmt.Sprint(n), string(timer.Delivered)).Attempts)
	}
	require.Len(t, r.All(), files)
}
