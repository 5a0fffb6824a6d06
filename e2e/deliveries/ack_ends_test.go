package deliveries

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// What was accepted, and is ended by Temporal's own programs, is acknowledged by nobody any
// more.
func TestTemporalsProgramsEndWhatWasAccepted(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, nil)
	for name, end := range process.Endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := kind + "/" + strings.ReplaceAll(name, " ", "-")
			_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: path, Number: 1})
			process.Execute(t, end.Program(t), "--address", testenv.Addr, "workflow", end.Verb, "-w", path)
			require.Zero(t, env.Await(path, "cancelled").AckUntil)
			_, _, err := env.Wakecall().Deliveries.Ack(t.Context(), delivery, nil)
			notAwaited(t, err, timer.Cancelled)
		})
	}
}
