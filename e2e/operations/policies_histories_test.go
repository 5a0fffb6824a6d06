package operations

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistoriesOfFullRuns records entities that continue in another run: here Temporal
// suggests that after few events.
func TestRecordHistoriesOfFullRuns(t *testing.T) {
	testenv.OnlyToRecord(t)
	addr, stop, err := testenv.TemporalWith(t.TempDir(), []byte("limit.historyCount.suggestContinueAsNew:\n  - value: 20\n"), time.Hour)
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	env.StartWorker()
	rec := testenv.Recorder{T: t, H: env}
	for n := range 6 {
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "priority": 1 + n%5})
		env.Policy(kind+"."+strconv.Itoa(n), testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	}
	record(t, env, kind)
	for name, id := range map[string]string{"policy": workflows.PolicyID(kind), "registry": workflows.RegistryID, "ledger": ledgerID} {
		first := rec.First(id)
		rec.Next(id, first)
		rec.Run(name+"-goes-on", id, first)
	}
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.Run("policy-went-on", workflows.PolicyID(kind), "")
	rec.Run("ledger", ledgerID, "")
}

// ledgerID is that of a ledger that no process hands counts to.
var ledgerID = workflows.LedgerID(tuning.Ledgers)

// record hands counts to a ledger, some of them twice.
func record(t *testing.T, env *testenv.Env, kind string) {
	t.Helper()
	late := int64(7)
	for n := range 12 {
		var counts slo.Counts
		counts.Book(100)
		counts.Observe(timer.Outcome{Status: timer.Delivered, Attempts: 2, LatenessMS: &late}, time.Second)
		entry := workflows.LedgerEntry{
			LedgerStamp: workflows.LedgerStamp{Number: 1 + n - n%3/2, At: wire.At(time.Now())}, Sender: "wakecall-1",
			Counts: map[string]slo.Counts{kind: counts},
		}
		_, err := env.Client.SignalWithStartWorkflow(t.Context(), ledgerID, workflows.SignalLedger, entry,
			client.StartWorkflowOptions{TaskQueue: workflows.TaskQueue}, workflows.TypeLedger, workflows.LedgerState{})
		require.NoError(t, err)
	}
}
