package kernel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
)

func TestErrorsOfTemporal(t *testing.T) {
	t.Parallel()
	ours := &wire.Error{Code: wire.Overtaken}
	require.NoError(t, Translate(nil))
	require.Same(t, ours, Translate(ours), "what is ours stays")
	require.Equal(t, wire.NotFound, wire.CodeOf(Translate(serviceerror.NewNotFound("none"))))
	for _, err := range []error{
		errors.New("a connection broke"), context.DeadlineExceeded, serviceerror.NewUnavailable("busy"), serviceerror.NewNamespaceNotFound("default"),
	} {
		require.Equal(t, wire.Unavailable, wire.CodeOf(Translate(err)), "the outcome is unknown: %v", err)
		require.ErrorIs(t, Translate(err), err)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	k := &Kernel{Namespace: "our own", webUI: "http://ui.test"}
	require.Equal(t, "http://ui.test/namespaces/our%20own/workflows/order%2F1/run", k.Link("order/1", "run"))
	require.Empty(t, (&Kernel{Namespace: "default"}).Link("order/1", "run"), "without a Web UI")
}

// A wait has no deadline, which Temporal would answer by asking without a pause.
func TestAWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := New(&enginetest.Temporal{}, "default", "")
		waits := func() (took time.Duration) {
			began := time.Now()
			waiting, stop := k.Waiting(t.Context(), 3*time.Second)
			defer stop()
			_, limited := waiting.Deadline()
			require.False(t, limited)
			<-waiting.Done()
			return time.Since(began)
		}
		require.Equal(t, 3*time.Second, waits(), "by itself")
		time.AfterFunc(time.Second, k.EndWaits)
		require.Equal(t, time.Second, waits(), "as the process leaves")
		require.Zero(t, waits(), "and from then on")
	})
}

func TestAMemoThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var into timer.Memo
	info := &workflowpb.WorkflowExecutionInfo{Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{"any": {Data: []byte("?")}}}}
	err := ReadMemo(info, "any", "timer", &into)
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.ErrorContains(t, err, "The timer's memo cannot be read.")
}
