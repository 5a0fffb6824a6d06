package worker

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The SDK would warn about every timer preloaded for more than 5 s.
func TestLongTasksAreExpected(t *testing.T) {
	const variable = "TEMPORAL_WORKFLOW_TASK_DURATION_WARN_SECONDS"
	t.Setenv(variable, "7") // restored afterwards
	expectLongTasks()
	require.Equal(t, "7", os.Getenv(variable), "whoever runs it knows better")
	require.NoError(t, os.Unsetenv(variable))
	expectLongTasks()
	require.Equal(t, "120", os.Getenv(variable))
}
