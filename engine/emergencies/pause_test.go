package emergencies

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
)

func opened(t *testing.T) (*Emergencies, *enginetest.Temporal) {
	t.Helper()
	on := &enginetest.Temporal{}
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	return New(k, time.Hour), on
}

// A pause of a type holds that type, and a pause of everything holds all.
func TestWhatAPauseHolds(t *testing.T) {
	t.Parallel()
	e, _ := opened(t)
	held := func(businessType string) bool {
		paused, err := e.Paused(t.Context(), businessType)
		require.NoError(t, err)
		return paused
	}
	require.False(t, held("order"))
	some := policy.EmergencyOrder{BusinessTypes: []string{"order"}, Author: "operator", Note: "fire"}
	paused, err := e.Pause(t.Context(), some)
	require.NoError(t, err)
	require.Len(t, paused, 1)
	require.True(t, held("order"))
	require.False(t, held("invoice"))
	again, err := e.Pause(t.Context(), policy.EmergencyOrder{BusinessTypes: []string{"order"}, Author: "somebody else", Note: "smoke"})
	require.NoError(t, err)
	require.Equal(t, paused, again, "what is paused stays as it was")

	all := policy.EmergencyOrder{Everything: true, Author: "operator", Note: "flood"}
	_, err = e.Pause(t.Context(), all)
	require.NoError(t, err)
	listed, err := e.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.True(t, listed[0].Everything, "everything first")

	left, err := e.Resume(t.Context(), some)
	require.NoError(t, err)
	require.Len(t, left.Paused, 1, "everything is paused all the same")
	left, err = e.Resume(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, policy.Held{}, left)
	require.False(t, held("order"))
}

func TestWhatAPauseNeeds(t *testing.T) {
	t.Parallel()
	e, on := opened(t)
	_, err := e.Pause(t.Context(), policy.EmergencyOrder{})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	_, err = e.Resume(t.Context(), policy.EmergencyOrder{})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	on.Err = errors.New("down")
	_, err = e.Pause(t.Context(), policy.EmergencyOrder{Everything: true, Author: "operator", Note: "fire"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// unlisted is a Temporal whose visibility is away.
type unlisted struct{ *enginetest.Temporal }

func (unlisted) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return nil, serviceerror.NewUnavailable("no visibility")
}

// What was resumed is so, whether or not it can be read what is left.
func TestAResumptionNeedsNoVisibility(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	k := kernel.New(unlisted{on}, "default", "")
	t.Cleanup(k.EndWaits)
	e := New(k, time.Hour)
	all := policy.EmergencyOrder{Everything: true, Author: "operator", Note: "flood"}
	_, err := e.Pause(t.Context(), all)
	require.NoError(t, err)
	left, err := e.Resume(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, policy.Held{Incomplete: true}, left)
	held, err := e.Paused(t.Context(), "order")
	require.NoError(t, err)
	require.False(t, held)
}
