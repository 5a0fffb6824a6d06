package embedded

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/log/tag"
	"go.uber.org/zap/zapcore"
)

// A thousand failures at once are told of a few times each, and none with a stack trace.
func TestAFloodOfFailuresIsToldOfInFewLines(t *testing.T) {
	dir := t.TempDir()
	logger := newLogger(Options{DataDir: dir}, zapcore.WriteThenPanic)
	for range 1000 {
		logger.Error("it failed", tag.Error(errors.New("no answer")))
		logger.Info("it is told of at no time")
	}
	logger.Warn("another thing")
	text, err := os.ReadFile(filepath.Join(dir, "temporal.log"))
	require.NoError(t, err)
	require.Equal(t, logFirst, bytes.Count(text, []byte("it failed")))
	require.Equal(t, logFirst, bytes.Count(text, []byte("no answer")))
	require.Equal(t, 1, bytes.Count(text, []byte("another thing")))
	require.NotContains(t, string(text), "stacktrace")
	require.NotContains(t, string(text), "at no time")
	require.Panics(t, func() { logger.Fatal("the end") }, "the hook of a fatal entry remains")
}
