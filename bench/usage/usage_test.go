package usage_test

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/usage"
)

func own(t *testing.T) usage.Usage {
	u, err := usage.Own()
	require.NoError(t, err)
	return u
}

func sum(u usage.Usage) (cpu time.Duration) {
	for _, part := range u.CPU {
		cpu += part
	}
	return cpu
}

func TestChildrenAreCounted(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "/bin/sleep", "60")
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool { return own(t).Memory["sleep 60"] > 0 }, 5*time.Second, time.Millisecond, "it runs")
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.NotContains(t, own(t).Memory, "sleep 60")
}

func TestWorkOfAnEndedChildIsCounted(t *testing.T) {
	t.Parallel()
	before := sum(own(t))
	require.NoError(t, exec.CommandContext(t.Context(), "/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").Run())
	require.Greater(t, sum(own(t))-before, 20*time.Millisecond)
}

func TestSinceIsWhatWasAdded(t *testing.T) {
	t.Parallel()
	earlier := usage.Usage{CPU: map[string]time.Duration{"api": time.Second}}
	later := usage.Usage{CPU: map[string]time.Duration{"api": 3 * time.Second, "worker": time.Second}}
	require.Equal(t, map[string]time.Duration{"api": 2 * time.Second, "worker": time.Second}, later.Since(earlier))
}

func TestOthersAreSeen(t *testing.T) {
	t.Parallel()
	watch, err := usage.Watch()
	require.NoError(t, err)
	// Its parent ends at once, so that it is no descendant of this process.
	text, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "(ulimit -t 60; exec >/dev/null 2>&1; while :; do :; done) & echo $!").Output()
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Kill(pid, syscall.SIGKILL)) }()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		share, err := watch.Share()
		require.NoError(c, err)
		require.Positive(c, share)
	}, time.Minute, 100*time.Millisecond, "it is busy")
}
