package site

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/words"
)

// valued is a part of pages whose method has a value as its receiver.
type valued struct{ words.Speech }

func (valued) Said() string { return "" }

// What pages embed has no method with a value as its receiver. The binary would have a copy of it for each page.
func TestMethodsOfWhatPagesEmbedHavePointers(t *testing.T) {
	t.Parallel()
	require.Zero(t, reflect.TypeFor[Frame]().NumMethod())
	require.Equal(t, 1, reflect.TypeFor[struct{ valued }]().NumMethod(), "the oracle sees one")
	require.NotZero(t, reflect.TypeFor[*Frame]().NumMethod(), "it sees those of a pointer too")
}
