package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/workflows"
)

// The names that Temporal stores, or that people search by, are promises: what waits
// today is found by them in years to come.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		workflows.DeliveryQueue("order"):               "wakecall-delivery/order",
		workflows.StreamQueue("order"):                 "wakecall-stream/order",
		workflows.AnswersQueue("g"):                    "wakecall-answers-g",
		workflows.AnswerRingID("c.1"):                  "answer:c.1",
		workflows.ReceiptQueue("w"):                    "wakecall-receipts-w",
		workflows.CheckQueue("c"):                      "wakecall-check-c",
		workflows.ChangeMark("r"):                      "wakecall:change:r:",
		workflows.PolicyID("order"):                    "policy:order",
		workflows.EmergencyID(""):                      "emergency:*",
		workflows.EmergencyID("order"):                 "emergency:order",
		workflows.AlertID(timer.EventFailed, "r"):      "alert:" + string(timer.EventFailed) + ":r",
		workflows.NotifyID("r"):                        "nudge:r",
		workflows.RedeliveryJob.WorkflowID("4"):        "redelivery:4",
		workflows.BulkJob.WorkflowID("a"):              "bulk:a",
		workflows.BulkPageID("a", 7):                   "bulk-page:7:a",
		workflows.TypeTimer + workflows.TaskQueue:      "WakecallTimerwakecall",
		workflows.ProbeID + " " + workflows.RegistryID: "wakecall:probe wakecall:registry",
	} {
		require.Equal(t, want, name)
	}
	for workflowID, want := range map[string]string{"redelivery:4": "4", "x/4": ""} {
		id, ok := workflows.RedeliveryJob.ID(workflowID)
		require.Equal(t, want != "", ok)
		if ok {
			require.Equal(t, want, id)
		}
	}
	attributes := workflows.AllAttributes()
	require.Equal(t, 6, attributes.Size())
	for _, key := range []temporal.SearchAttributeKeyKeyword{workflows.AttrBusinessType, workflows.AttrBusinessID, workflows.AttrState, workflows.AttrWebhookID} {
		require.True(t, attributes.ContainsKey(key), key.GetName())
	}
	require.True(t, attributes.ContainsKey(workflows.AttrLabels))
	due, _ := attributes.GetTime(workflows.AttrDueAt)
	require.Equal(t, time.Unix(0, 0).UTC(), due)
}

// A payload is stored byte for byte, and marked as what it is.
func TestAPayloadIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payload  *timer.Payload
		encoding string
		data     string
	}{
		"JSON":  {&timer.Payload{Data: []byte(`{"n": 1}`)}, converter.MetadataEncodingJSON, `{"n": 1}`},
		"bytes": {&timer.Payload{Data: []byte("\x00\xff"), Base64: true}, converter.MetadataEncodingBinary, "\x00\xff"},
		"none":  {nil, converter.MetadataEncodingNil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := workflows.Encode(c.payload).Payload()
			require.Equal(t, c.encoding, string(stored.GetMetadata()[converter.MetadataEncoding]))
			require.Equal(t, c.data, string(stored.GetData()))
		})
	}
}
