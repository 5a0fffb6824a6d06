package errtype

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIs(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Err: fs.ErrNotExist})
	require.True(t, Is[*fs.PathError](err))
	require.False(t, Is[*fs.PathError](errors.New("another")))
	require.False(t, Is[*fs.PathError](nil))
}
