package failover

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	workerpb "go.temporal.io/api/worker/v1"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// signsOn are the signs on a cluster, as a process without a failover gives them.
func signsOn(c *cluster) Signs { return NewSigns(kernel.New(&process{of: c}, "default", "")) }

func count(n int) *int { return &n }

// A process is listed with what it tells of itself. One of an earlier build tells nothing.
func TestSignsTellOfTheirProcess(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	signs, now := signsOn(c), time.UnixMilli(7000).UTC()
	given := map[health.Role]Sign{
		health.Node: {Worker: "n", At: now, About: health.About{
			Role: health.Node, Version: "1.2.3", Host: "box", StartedAt: wire.At(now), Preloaded: count(0), InFlight: count(7),
		}},
		health.Gateway: {Worker: "g", At: now, Stopping: true, About: health.About{Role: health.Gateway, InFlight: count(0)}},
	}
	for _, sign := range given {
		require.NoError(t, signs.Give(t.Context(), sign))
	}
	c.signs["old"] = &workerpb.WorkerHeartbeat{WorkerInstanceKey: "old", WorkerIdentity: "old", TaskQueue: workflows.SignQueue}
	c.signs["sdk"] = &workerpb.WorkerHeartbeat{WorkerInstanceKey: "sdk", WorkerIdentity: "n", TaskQueue: workflows.TaskQueue, SdkName: "temporal-go"}
	all, err := signs.ListAll(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 3)
	for _, sign := range all {
		if sign.Worker == "old" {
			require.Equal(t, health.About{Role: health.Worker}, sign.About)
			continue
		}
		require.Equal(t, given[sign.About.Role], sign)
	}
	workers, err := signs.List(t.Context())
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(workers, func(s Sign) bool { return s.Worker == "g" }), "no worker lists a gateway")
	require.Len(t, workers, 2)
	c.away = errors.New("away")
	_, err = signs.ListAll(t.Context())
	require.Error(t, err)
}

// A gateway that dies is taken for dead by no worker, and none shares its work with it. Nor is the check of
// a start, whose sign may stay for some seconds. A worker that gives the same signs is, which is the control.
func TestAGatewayIsNoWorker(t *testing.T) {
	for role, died := range map[health.Role][]string{health.Gateway: nil, Checking: nil, health.Worker: {"g"}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			a := c.starts("a")
			for range 10 {
				require.NoError(t, signsOn(c).Give(context.Background(), Sign{Worker: "g", At: time.Now(), About: health.About{Role: role}}))
				passes(tuning.SignEvery)
			}
			require.Equal(t, role == health.Worker, slices.Contains(a.failover.watch.survivors(), "g"))
			passes(lostWithin)
			require.Equal(t, died, a.died)
		})
	}
}
