package streams

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// bringing is a Temporal whose worker brings answers to their gateways.
type bringing struct {
	*enginetest.Temporal
	client.WorkflowRun
	err error
}

func (b *bringing) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, w any, args ...any) (client.WorkflowRun, error) {
	_, err := b.Temporal.ExecuteWorkflow(ctx, o, w, args...)
	return b, err
}

func (b *bringing) Get(context.Context, any) error { return b.err }

func TestAnswersForOtherGateways(t *testing.T) {
	t.Parallel()
	answer := delivery.RingAnswer{Gateway: "wakecall-9f86d081884c-4711-1b4e28ba", Connection: rand.Text(), Number: 7}
	for name, c := range map[string]struct {
		b    bringing
		code wire.Code
	}{
		"it counts":                {bringing{}, ""},
		"it does not":              {bringing{err: errors.New("over")}, wire.RingOver},
		"the gateway is gone":      {bringing{err: errors.New("timed out")}, wire.RingOver},
		"no worker answers":        {bringing{err: context.DeadlineExceeded}, wire.Unavailable},
		"Temporal does not answer": {bringing{Temporal: &enginetest.Temporal{Err: context.DeadlineExceeded}}, wire.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := c.b
			if b.Temporal == nil {
				b.Temporal = &enginetest.Temporal{}
			}
			err := New(kernel.New(&b, "default", "")).Answer(t.Context(), answer)
			require.Equal(t, c.code == "", err == nil)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
			}
			require.Equal(t, []string{workflows.AnswerRingID(answer.Connection + ".7")}, b.Called("ExecuteWorkflow"))
		})
	}
}

func TestMadeUpNamesOfRingsNeverReachTemporal(t *testing.T) {
	t.Parallel()
	const gateway = "wakecall-9f86d081884c-4711-1b4e28ba"
	connection := rand.Text()
	b := &bringing{Temporal: &enginetest.Temporal{}}
	for _, gateway := range []string{"", "x", "wakecall", gateway + "x", "../" + gateway} {
		err := New(kernel.New(b, "default", "")).Answer(t.Context(), delivery.RingAnswer{Gateway: gateway, Connection: connection, Number: 1})
		require.Equal(t, wire.RingOver, wire.CodeOf(err), gateway)
	}
	for _, connection := range []string{"", "c", strings.Repeat("A", 2000), connection + "\n", connection[1:], strings.ToLower(connection)} {
		err := New(kernel.New(b, "default", "")).Answer(t.Context(), delivery.RingAnswer{Gateway: gateway, Connection: connection, Number: 1})
		require.Equal(t, wire.RingOver, wire.CodeOf(err), connection)
	}
	require.Empty(t, b.Called("ExecuteWorkflow"))
}
