package worker

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

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

// What does not end in time holds up nothing longer.
func TestAStopIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, released := time.Now(), make(chan struct{})
		stopWithin(time.Minute, []func(){func() {}, func() { <-time.After(time.Second) }})
		require.Equal(t, time.Second, time.Since(began), "all of it has ended")
		stopWithin(time.Minute, []func(){func() {}, func() { <-released }})
		require.Equal(t, time.Minute+time.Second, time.Since(began))
		close(released)
	})
}
