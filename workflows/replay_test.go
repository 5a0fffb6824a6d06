package workflows_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/workflows"
)

func replay(file string) error {
	replayer := worker.NewWorkflowReplayer()
	workflows.Register(replayer)
	return replayer.ReplayWorkflowHistoryFromJSONFile(quiet{}, file)
}

// Every frozen history must replay for ever: a timer that waits today may wake up under the
// code of years to come. Histories are never replaced; see make histories.
func TestFrozenHistoriesReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/v*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		assert.NoError(t, replay(file), file)
	}
}

// frozen are the frozen scenarios, by the first behaviour that has them. Each later
// behaviour has them too.
var frozen = map[int][]string{
	workflows.BehaviourInitial: {
		// A one-shot timer, from its booking to each of its ends.
		"delivered", "retried", "failed", "stopped", "expired", "cancelled", "cancelled-delivering",
		"moved", "moved-away", "moved-delivering", "moved-delivering-away", "labelled", "labelled-anew",
		"paused-once", "paused-once-resumed", "paused-expired", "paused-retry", "paused-retry-away",
		// Its first attempt: preloaded, and handed out again.
		"held-cancelled", "held-moved", "handed-back", "nudge", "collided", "collided-elsewhere", "receipt-left",
		"taken-over", "taken-over-retried", "taken-over-cancelled", "taken-over-moved", "taken-over-recurring",
		// Its later attempts: paced, held back, woken, by links, and acknowledged.
		"limited", "expired-held", "put-off", "woken", "fallback", "fallback-of-a-stream", "streamed", "stream-as-the-fallback",
		"acked", "nacked", "ack-cancelled", "unacknowledged", "answer", "answer-lost",
		// A recurring timer.
		"recurring", "recurring-goes-on", "recurring-failing", "recurring-resumed", "recurring-made-up", "recurring-made-up-rings",
		"labelled-recurring", "labelled-recurring-goes-on",
		// The announcements of its end.
		"alerted", "outcome", "alert", "redelivered",
		// Policies, and the other entities without an end.
		"policy", "policy-lifted", "policy-claimed", "registry", "ledger", "ledger-goes-on", "probe",
		// Jobs.
		"bulk", "bulk-stopped", "bulk-stopped-counted",
		// Dispatches and their shards.
		"dispatch-done", "dispatch-failures", "dispatch-retried", "dispatch-cancelled", "dispatch-loaded", "dispatch-recurring",
		"dispatch-expired", "dispatch-uploaded", "dispatch-limited",
		"dispatch-shard-done", "dispatch-shard-ladder", "dispatch-shard-cancelled", "dispatch-shard-loaded",
		"dispatch-shard-cancelled-counted",
	},
}

// unfrozen are the scenarios of a behaviour that no file holds.
func unfrozen(behaviour int, scenarios []string) (missing []string) {
	for _, scenario := range scenarios {
		if _, err := os.Stat(frozenFile(behaviour, scenario)); err != nil {
			missing = append(missing, scenario)
		}
	}
	return missing
}

func frozenFile(behaviour int, scenario string) string {
	return filepath.Join("testdata", "v"+strconv.Itoa(behaviour), scenario+".json")
}

func TestEveryBehaviourIsFrozen(t *testing.T) {
	t.Parallel()
	var scenarios []string
	for behaviour := workflows.BehaviourInitial; behaviour <= workflows.BehaviourNow; behaviour++ {
		scenarios = append(scenarios, frozen[behaviour]...)
		require.Empty(t, unfrozen(behaviour, scenarios), "record them with make histories")
	}
	require.Equal(t, []string{"no such scenario"}, unfrozen(workflows.BehaviourNow, []string{"delivered", "no such scenario"}), "the control")
}

// The negative control: a history that the code could not have made.
func TestReplaySeesAnotherBehaviour(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(frozenFile(workflows.BehaviourInitial, "retried"))
	require.NoError(t, err)
	altered := bytes.Replace(text, []byte(`"name": "deliver"`), []byte(`"name": "deliver2"`), 1)
	require.NotEqual(t, text, altered)
	file := filepath.Join(t.TempDir(), "altered.json")
	require.NoError(t, os.WriteFile(file, altered, 0o600))
	require.Error(t, replay(file))
}
