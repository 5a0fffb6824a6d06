package namespace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// fresh is a namespace that nothing is registered in.
func fresh() (*Namespace, *enginetest.Temporal) {
	on := &enginetest.Temporal{}
	on.Attributes = map[string]enumspb.IndexedValueType{}
	return New(kernel.New(on, "default", "")), on
}

// What is missing is registered, and no more; what is there already is left alone.
func TestANamespaceIsPrepared(t *testing.T) {
	t.Parallel()
	n, on := fresh()
	on.Attributes["TheirOwn"] = enumspb.INDEXED_VALUE_TYPE_INT
	for range 2 {
		require.NoError(t, n.Prepare(t.Context()))
	}
	require.Len(t, on.Attributes, len(SearchAttributes())+1)
	require.Len(t, on.Calls("AddSearchAttributes"), 1)
	require.Equal(t, 1, on.RunsOf(workflows.ProbeID), "one probe runs")
	require.NoError(t, n.Ready(t.Context()))
}

func TestANamespaceThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	denied := serviceerror.NewPermissionDenied("not allowed", "")
	for name, c := range map[string]struct {
		before func(on *enginetest.Temporal)
		want   string
		is     error
	}{
		"an attribute of another type": {func(on *enginetest.Temporal) {
			on.Attributes[workflows.AttrDueAt.GetName()] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
		}, "the search attribute DueAt is Keyword and must be Datetime", nil},
		"they cannot be listed": {func(on *enginetest.Temporal) { on.Refuse("ListSearchAttributes", "", denied) }, "preparing the namespace default", denied},
		"they cannot be added": {func(on *enginetest.Temporal) { on.Refuse("AddSearchAttributes", "", denied) },
			"the search attributes [BusinessId BusinessType DueAt TimerLabels TimerState WebhookId] are missing and could not be registered", denied},
		"the probe cannot be started": {func(on *enginetest.Temporal) { on.Refuse("ExecuteWorkflow", "", down) }, "starting the readiness probe", down},
		"no attribute is ever taken": {func(on *enginetest.Temporal) {
			on.Before = func(call enginetest.Call) error {
				if call.Name == "ExecuteWorkflow" && on.RunsOf(workflows.ProbeID) > 0 {
					return serviceerror.NewInvalidArgument("search attribute DueAt is not defined")
				}
				return nil
			}
		}, "waiting for the search attributes", context.DeadlineExceeded},
		"Temporal goes away": {func(on *enginetest.Temporal) {
			on.Before = func(call enginetest.Call) error {
				if call.Name == "ExecuteWorkflow" && on.RunsOf(workflows.ProbeID) > 0 {
					return down
				}
				return nil
			}
		}, "waiting for the search attributes", down},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, on := fresh()
				c.before(on)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := n.Prepare(ctx)
				require.ErrorContains(t, err, c.want)
				if c.is != nil {
					require.ErrorIs(t, err, c.is)
				}
			})
		})
	}
}

// A part of Temporal that has not heard of an attribute yet is waited for.
func TestAttributesAreTakenLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, on := fresh()
		refusals := 3
		on.Before = func(call enginetest.Call) error {
			if call.Name == "ExecuteWorkflow" && on.RunsOf(workflows.ProbeID) > 0 && refusals > 0 {
				refusals--
				return serviceerror.NewInvalidArgument("search attribute DueAt is not defined")
			}
			return nil
		}
		began := time.Now()
		require.NoError(t, n.Prepare(t.Context()))
		require.Equal(t, 3*tuning.AttributePoll, time.Since(began))
	})
}

// Ready asks for what a timer needs. A probe that somebody has ended is started again.
func TestReady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(on *enginetest.Temporal)
		code   wire.Code
		probes int
	}{
		"all is well": {func(*enginetest.Temporal) {}, "", 1},
		"the probe was ended": {func(on *enginetest.Temporal) {
			_ = on.TerminateWorkflow(context.Background(), workflows.ProbeID, "", "")
		}, "", 2},
		"no worker answers":       {func(on *enginetest.Temporal) { on.Refuse("UpdateWorkflow", "", context.DeadlineExceeded) }, wire.Unavailable, 1},
		"Temporal does not store": {func(on *enginetest.Temporal) { on.Err = serviceerror.NewUnavailable("no database") }, wire.Unavailable, 1},
		"the namespace is gone":   {func(on *enginetest.Temporal) { on.Err = serviceerror.NewNamespaceNotFound("default") }, wire.Unavailable, 1},
		"no probe can be started": {func(on *enginetest.Temporal) {
			_ = on.TerminateWorkflow(context.Background(), workflows.ProbeID, "", "")
			on.Refuse("ExecuteWorkflow", "", errors.New("down"))
		}, wire.Unavailable, 1},
		"no worker answers the new probe": {func(on *enginetest.Temporal) {
			_ = on.TerminateWorkflow(context.Background(), workflows.ProbeID, "", "")
			on.Before = func(call enginetest.Call) error {
				if call.Name == "UpdateWorkflow" && on.RunsOf(workflows.ProbeID) == 2 {
					return context.DeadlineExceeded
				}
				return nil
			}
		}, wire.Unavailable, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, on := fresh()
			require.NoError(t, n.Prepare(t.Context()))
			c.before(on)
			err := n.Ready(t.Context())
			require.Equal(t, c.code == "", err == nil)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
			}
			require.Equal(t, c.probes, on.RunsOf(workflows.ProbeID))
		})
	}
}
