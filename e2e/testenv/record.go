package testenv

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"

	"github.com/wakecall/wakecall/workflows"
)

// OnlyToRecord skips a test that records, unless recording is requested.
func OnlyToRecord(t testing.TB) {
	t.Helper()
	if os.Getenv("WAKECALL_RECORD") == "" {
		t.Skip("records only when WAKECALL_RECORD is set")
	}
}

// Recorder writes histories into workflows/testdata for the replay test. It never replaces
// one: a history that no longer replays is a broken promise to waiting timers.
type Recorder struct {
	T testing.TB
	H *Env
}

// Finished waits for a timer's end and writes its last run, named by its id.
func (r Recorder) Finished(kind, id, status string) {
	r.T.Helper()
	r.H.Await(kind+"/"+id, status)
	r.Run(id, kind+"/"+id, "")
}

// First is the first run of a workflow.
func (r Recorder) First(workflowID string) (runID string) {
	r.T.Helper()
	event, err := r.H.Client.GetWorkflowHistory(r.T.Context(), workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	require.NoError(r.T, err)
	return event.GetWorkflowExecutionStartedEventAttributes().GetFirstExecutionRunId()
}

// Next is the run that continues a run, once it exists.
func (r Recorder) Next(workflowID, run string) (runID string) {
	r.T.Helper()
	event, err := r.H.Client.GetWorkflowHistory(r.T.Context(), workflowID, run, true, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT).Next()
	require.NoError(r.T, err)
	next := event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	require.NotEmpty(r.T, next)
	return next
}

// Run writes a run of a workflow, the last one by default.
func (r Recorder) Run(name, workflowID, runID string) {
	r.T.Helper()
	file := filepath.Join("..", "..", "workflows", "testdata", "v"+strconv.Itoa(workflows.BehaviourNow), name+".json")
	if _, err := os.Stat(file); err == nil {
		return
	}
	require.NoError(r.T, os.MkdirAll(filepath.Dir(file), 0o755))
	var history historypb.History
	events := r.H.Client.GetWorkflowHistory(r.T.Context(), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(r.T, err)
		history.Events = append(history.Events, event)
	}
	text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&history)
	require.NoError(r.T, err)
	require.NoError(r.T, os.WriteFile(file, append(text, '\n'), 0o644))
}
