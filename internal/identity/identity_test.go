package identity_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/identity"
)

func TestAnIdentityIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, actor := range []wire.Actor{
		{Name: "shop", By: "key"},
		{Name: `a "b" for {c} 安娜`, ID: "sub|1", Role: "admin", By: "oidc", From: "192.0.2.1", RequestID: "r-1", Job: "bulk:7"},
	} {
		process, read := identity.Parse(identity.With("wakecall-1", actor))
		require.Equal(t, "wakecall-1", process)
		require.Equal(t, &actor, read)
	}
	for _, other := range []string{"", "tctl@desk", "1@host@ for you", "a for {", `a for {"name":"x"}`, `a for {"by":1}`} {
		process, read := identity.Parse(other)
		require.Equal(t, other, process, "nobody of Wakecall's wrote it")
		require.Nil(t, read)
	}
}

// Temporal refuses a call with a longer identity. Only the names are cut.
func TestALongNameIsCut(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("安", 2_000), strings.Repeat("\x01", 3_000), strings.Repeat("a", 950) + "\xff\xff"} {
		written := identity.With("wakecall-1", wire.Actor{Name: long, ID: long, By: "oidc", RequestID: "r-1"})
		require.LessOrEqual(t, len(written), 1_000)
		require.True(t, utf8.ValidString(written))
		process, read := identity.Parse(written)
		require.Equal(t, "wakecall-1", process)
		require.Equal(t, "r-1", read.RequestID)
		require.Equal(t, "oidc", read.By)
		require.NotEmpty(t, read.Name+read.ID)
	}
	require.Equal(t, "p", identity.With("p", wire.Actor{By: strings.Repeat("x", 2_000)}), "nothing that can be cut")
}
