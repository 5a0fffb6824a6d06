package workflows_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/workflows"
)

type object = map[string]any

// made is a history that no build of now records, made of one that was frozen.
type made struct {
	*testing.T
	Events []object `json:"events"`
}

func madeOf(t *testing.T, file string) *made {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	m := &made{T: t}
	require.NoError(t, json.Unmarshal(text, m))
	return m
}

// become puts another event in the place of one, by its id.
func (m *made) become(id int, kind, attributesName string, attributes object) {
	event := m.Events[id-1]
	m.Events[id-1] = object{
		"eventId": event["eventId"], "eventTime": event["eventTime"], "taskId": event["taskId"],
		"eventType": "EVENT_TYPE_" + kind, attributesName: attributes,
	}
}

// result is that of an event.
func (m *made) result(id int, attributesName string) any {
	return m.Events[id-1][attributesName].(object)["result"]
}

func (m *made) replays() {
	text, err := json.Marshal(object{"events": m.Events})
	require.NoError(m, err)
	file := filepath.Join(m.TempDir(), "made.json")
	require.NoError(m, os.WriteFile(file, text, 0o600))
	require.NoError(m, replay(file))
}

// A run of a build that did not look for what its worker had left while it was asked rang
// again, and goes the same way for ever.
func TestARunThatRangBesideItsReceiptReplays(t *testing.T) {
	t.Parallel()
	m := madeOf(t, "testdata/v2/collided-elsewhere.json")
	receipt, ended := m.result(12, "activityTaskCompletedEventAttributes"), m.result(16, "workflowExecutionCompletedEventAttributes")
	ring := object{"payloads": []any{object{
		"metadata": object{"encoding": []byte("json/plain")},
		"data":     []byte(`{"ActivityID":"2","ActivityType":"ring","ReplayTime":"2026-11-23T00:28:30Z","Attempt":1}`),
	}}}
	m.become(5, "WORKFLOW_EXECUTION_SIGNALED", "workflowExecutionSignaledEventAttributes", object{"signalName": "another"})
	m.become(11, "WORKFLOW_EXECUTION_SIGNALED", "workflowExecutionSignaledEventAttributes", object{
		"signalName": workflows.SignalReceipt, "input": receipt,
	})
	m.become(12, "ACTIVITY_TASK_TIMED_OUT", "activityTaskTimedOutEventAttributes", object{
		"scheduledEventId": "10", "failure": object{"timeoutFailureInfo": object{"timeoutType": "TIMEOUT_TYPE_SCHEDULE_TO_START"}},
	})
	m.Events = append(m.Events, object{"eventId": "17", "eventTime": m.Events[15]["eventTime"], "taskId": m.Events[15]["taskId"]})
	m.become(16, "MARKER_RECORDED", "markerRecordedEventAttributes", object{
		"markerName": "LocalActivity", "workflowTaskCompletedEventId": "15", "details": object{"data": ring, "result": receipt},
	})
	m.become(17, "WORKFLOW_EXECUTION_COMPLETED", "workflowExecutionCompletedEventAttributes", object{
		"result": ended, "workflowTaskCompletedEventId": "15",
	})
	m.replays()
}
