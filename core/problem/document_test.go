package problem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
)

func TestCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, wire.NotFound, problem.Document{Type: problem.Type(wire.NotFound)}.Code())
	require.Empty(t, problem.Document{Type: "about:blank"}.Code(), "it is not ours")
}
