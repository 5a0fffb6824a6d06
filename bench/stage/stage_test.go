package stage_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/stage"
)

func TestFailuresAreReturned(t *testing.T) {
	t.Parallel()
	s := stage.New(t.Context())
	require.NoError(t, s.Do(func() { require.True(s, true) }))
	went := false
	err := s.Do(func() {
		require.Equal(s, 1, 2, "numbers differ")
		went = true
	})
	require.ErrorContains(t, err, "numbers differ")
	require.False(t, went, "a fatal failure ends the act")
	require.NoError(t, s.Do(func() {}), "it is told once")
	require.NoError(t, s.Close())
}

func TestTheLastThingIsCleanedUpFirst(t *testing.T) {
	t.Parallel()
	s := stage.New(context.Background())
	var order []int
	s.Cleanup(func() {
		require.Error(s, s.Context().Err())
		order = append(order, 1)
	})
	s.Cleanup(func() { order = append(order, 2) })
	dir := s.TempDir()
	require.DirExists(t, dir)
	require.NoError(t, s.Close())
	require.Equal(t, []int{2, 1}, order)
	require.NoDirExists(t, dir)
}
