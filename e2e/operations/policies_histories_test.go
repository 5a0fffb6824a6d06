package operations

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
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
	for name, id := range map[string]string{"policy": workflows.PolicyID(kind), "registry": workflows.RegistryID} {
		first := rec.First(id)
		rec.Next(id, first)
		rec.Run(name+"-goes-on", id, first)
	}
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.Run("policy-went-on", workflows.PolicyID(kind), "")
}
