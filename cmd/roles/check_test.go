package roles

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/namespace"
	"github.com/wakecall/wakecall/engine/queues"
)

// A wrong setting is a warning, a failed check is not, and a right setting has no line.
func TestOneLineForEachFinding(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logFindings(slog.New(slog.NewTextHandler(&log, nil)), []namespace.Finding{
		{Check: "fairness"}, {Check: "retention", Wrong: "set it to 24h"}, {Check: "partitions", Unknown: errors.New("permission denied")},
	})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `level=WARN .* check=retention change="set it to 24h"`, lines[0])
	require.Regexp(t, `level=INFO .* check=partitions why="permission denied"`, lines[1])
}

// Many callers in a moment cost one check.
func TestChecksAreTrustedForAMoment(t *testing.T) {
	t.Parallel()
	made := 0
	asked := &askedChecks{all: []func(context.Context) health.Check{func(context.Context) health.Check {
		made++
		return health.Check{Name: "workers"}
	}}}
	for range 3 {
		found := asked.results()
		require.Len(t, found, 1)
		require.NotZero(t, found[0].At)
	}
	require.Equal(t, 1, made)
	asked.at = time.Time{}
	asked.results()
	require.Equal(t, 2, made, "the control")
}

func TestWorkersAreNamed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	require.Equal(t, "a asked for work 3s ago, b asked for work 1m30s ago (this process)", describeWorkers(
		[]queues.Poller{{Identity: "a", At: now.Add(-3 * time.Second)}, {Identity: "b", At: now.Add(-90 * time.Second)}}, "b", now,
	))
}
