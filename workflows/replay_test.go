package workflows_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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

// Every history that was ever frozen must replay, for ever: a timer that is
// waiting today may wake up under the code of years to come. Histories are
// never replaced; see make histories.
func TestFrozenHistoriesReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/v*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		assert.NoError(t, replay(file), file)
	}
}

// since are the scenarios that a behaviour, and each one after it, is frozen with
// beside those of all; only those of one alone.
var (
	since = map[int][]string{
		workflows.BehaviourLiveRetries: {"expired-held", "put-off", "woken", "went-over", "policy-lifted", "acked", "nacked", "ack-cancelled", "unacknowledged", "bulk", "bulk-stopped",
			"receipt-left", "labelled", "labelled-anew", "labelled-recurring", "labelled-recurring-goes-on"},
	}
	only = map[int][]string{
		workflows.BehaviourInitial: {"held-cancelled-window", "held-moved-window", "handed-back-window"},
	}
)

func TestEveryBehaviourIsFrozen(t *testing.T) {
	t.Parallel()
	var added []string
	for behaviour := workflows.BehaviourInitial; behaviour <= workflows.BehaviourNow; behaviour++ {
		added = append(added, since[behaviour]...)
		for _, scenario := range slices.Concat(added, only[behaviour], []string{
			"delivered", "retried", "failed", "stopped", "expired", "cancelled", "cancelled-delivering", "moved", "moved-away",
			"moved-delivering", "moved-delivering-away", "collided", "collided-elsewhere", "policy", "probe",
			"redelivery", "redelivery-stopped", "limited", "alerted",
			"recurring", "recurring-goes-on", "recurring-failing", "recurring-resumed",
			"held-cancelled", "held-moved", "handed-back", "nudge",
		}) {
			file := filepath.Join("testdata", "v"+strconv.Itoa(behaviour), scenario+".json")
			_, err := os.Stat(file)
			require.NoError(t, err, "record it with make histories")
		}
	}
}

// Dispatches and their shards are no timers, and know no behaviours.
func TestDispatchesAreFrozen(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{
		"done", "failures", "retried", "cancelled", "loaded", "recurring", "expired", "uploaded", "limited",
		"shard-done", "shard-ladder", "shard-cancelled", "shard-loaded",
	} {
		require.FileExists(t, filepath.Join("testdata", "v2", "dispatch-"+scenario+".json"), "record it with make histories")
	}
	require.FileExists(t, "testdata/v2/policy-claimed.json", "record it with make histories")
}

// One-shot timers that are paused, resumed and expire meanwhile.
func TestPausesAreFrozen(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"once", "once-resumed", "expired", "retry", "retry-away"} {
		require.FileExists(t, filepath.Join("testdata", "v2", "paused-"+scenario+".json"), "record it with make histories")
	}
}

// The registry of business types is no timer, and knows no behaviours.
func TestTheRegistryIsFrozen(t *testing.T) {
	t.Parallel()
	require.FileExists(t, "testdata/v1/registry.json", "record it with make histories")
}

// Redeliveries from before jobs had a queue of their own replay, and those since.
func TestJobsAreFrozenOnBothQueues(t *testing.T) {
	t.Parallel()
	for file, queue := range map[string]string{
		"testdata/v2/redelivery.json": workflows.ControlQueue, "testdata/v2/redelivery-own-queue.json": workflows.JobQueue,
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err, "record it with make histories")
		require.Contains(t, string(text), `"name": "`+queue+`"`)
	}
}

// Runs whose delivery says how it ended, under the behaviours that did not at first.
func TestEndingsAreFrozen(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"delivered", "failed", "cancelled"} {
		file := "testdata/v1/ended-" + end + ".json"
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.Contains(text, []byte(`"markerName": "Version"`)), "%s was recorded with the marker", file)
	}
}

// The negative control: a history that the code could not have made.
func TestReplaySeesAnotherBehaviour(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/v1/retried.json")
	require.NoError(t, err)
	altered := bytes.Replace(text, []byte(`"name": "deliver"`), []byte(`"name": "deliver2"`), 1)
	require.NotEqual(t, text, altered)
	file := filepath.Join(t.TempDir(), "altered.json")
	require.NoError(t, os.WriteFile(file, altered, 0o600))
	require.Error(t, replay(file))
}
