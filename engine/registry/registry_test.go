package registry

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

func TestTheRegistryIsStartedByWhoFirstNeedsIt(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	r := New(k)
	known, err := r.Read(t.Context())
	require.NoError(t, err, "there is none yet")
	require.Empty(t, known)
	require.NoError(t, r.Add(t.Context(), "order"))
	require.NoError(t, r.Add(t.Context(), "invoice"))
	require.Equal(t, 1, on.RunsOf(workflows.RegistryID))
	known, err = r.Read(t.Context())
	require.NoError(t, err)
	require.NotNil(t, known, "what its workflow says of itself")
	on.Err = errors.New("down")
	require.Equal(t, wire.Unavailable, wire.CodeOf(r.Add(t.Context(), "order")))
}
