package emergencies

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/workflows"
)

// Nobody is told that callbacks are paused, or go on, where Temporal did not say so.
func TestTheErrorsOfPauses(t *testing.T) {
	t.Parallel()
	all := policy.EmergencyOrder{Everything: true, Author: "operator", Note: "flood"}
	for name, c := range map[string]struct {
		call string
		act  func(e *Emergencies) error
	}{
		"pause":  {"ExecuteWorkflow", func(e *Emergencies) error { _, err := e.Pause(t.Context(), all); return err }},
		"resume": {"TerminateWorkflowExecution", func(e *Emergencies) error { _, err := e.Resume(t.Context(), all); return err }},
		"list":   {"ListWorkflow", func(e *Emergencies) error { _, err := e.List(t.Context()); return err }},
		"is it":  {"DescribeWorkflowExecution", func(e *Emergencies) error { _, err := e.Paused(t.Context(), "order"); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, answer := range []error{serviceerror.NewUnavailable("busy"), serviceerror.NewPermissionDenied("no", ""), errors.New("down")} {
				e, on := opened(t)
				if name == "resume" {
					_, err := e.Pause(t.Context(), all)
					require.NoError(t, err)
				}
				on.Refuse(c.call, "", answer)
				require.Equal(t, wire.Unavailable, wire.CodeOf(c.act(e)))
			}
		})
	}
}

// A resumption tells what is left, as it stands, whatever visibility has not heard of yet.
func TestWhatAResumptionLeaves(t *testing.T) {
	t.Parallel()
	e, on := opened(t)
	for _, businessType := range []string{"order", "invoice"} {
		_, err := e.Pause(t.Context(), policy.EmergencyOrder{BusinessTypes: []string{businessType}, Author: "operator", Note: "fire"})
		require.NoError(t, err)
	}
	all := policy.EmergencyOrder{Everything: true, Author: "operator", Note: "flood"}
	_, err := e.Pause(t.Context(), all)
	require.NoError(t, err)
	on.Before = func(call enginetest.Call) error {
		if call.Name == "DescribeWorkflowExecution" && call.Of == workflows.EmergencyID("order") {
			return serviceerror.NewNotFound("it has just ended")
		}
		return nil
	}
	left, err := e.Resume(t.Context(), all)
	require.NoError(t, err)
	require.False(t, left.Incomplete)
	require.Len(t, left.Paused, 1)
	require.Equal(t, "invoice", left.Paused[0].BusinessType)
	on.Refuse("DescribeWorkflowExecution", workflows.EmergencyID("invoice"), errors.New("down"))
	left, err = e.Resume(t.Context(), all)
	require.NoError(t, err)
	require.True(t, left.Incomplete, "what is left is not known")

	enginetest.Worker{On: on}.Say(t, workflows.EmergencyID("order"), workflows.MemoEmergency, "?")
	on.Before = nil
	_, err = e.List(t.Context())
	require.Equal(t, wire.Internal, wire.CodeOf(err))
}
