package failover

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// docs/reliability.md says how late a timer rings whose worker was killed. It is held to the
// code: a sign, the time for which it must stay, a look at it, the search, and either more
// patience or the question to the worker before, where nothing is known of its end.
func TestThePageSaysHowLateAKilledWorkerMakesATimer(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reliability.md")
	require.NoError(t, err)
	for _, sentence := range []string{
		fmt.Sprintf("is called at most **%.0f s** after", TakenOver.Seconds()),
		fmt.Sprintf("One whose sign stays for %.0f s is taken for dead", tuning.DeadAfter.Seconds()),
		fmt.Sprintf("is frozen for longer than %.0f s, another one", tuning.LostAfter.Seconds()),
		fmt.Sprintf("or in the %.0f s after it, was probably rung", tuning.SignTrusted.Seconds()),
		fmt.Sprintf("over after %.0f s: a worker that is only slow", tuning.LostAfter.Seconds()),
		fmt.Sprintf("After %.0f s it rings nothing more", tuning.SignTrusted.Seconds()),
		fmt.Sprintf("on a queue is taken over after %.0f s", tuning.LostAfter.Seconds()),
		fmt.Sprintf("again %.0f s after its last sign of life, %.0f s at", tuning.Silence.Seconds(), tuning.StreamSilence.Seconds()),
	} {
		require.Contains(t, string(page), sentence)
	}
	const search = 2 * time.Second
	require.LessOrEqual(t, 2*tuning.SignEvery+tuning.DeadAfter+search+tuning.QuestionTimeout, TakenOver)
	require.LessOrEqual(t, 2*tuning.SignEvery+tuning.LostAfter+search+tuning.LostTryFirst, TakenOver)
	require.LessOrEqual(t, tuning.SignDoubted+tuning.SignAgain+tuning.UnappliedLook+search, TakenOver, "the same for a change")
	require.Greater(t, tuning.UnappliedFor, TakenOver)
	require.Less(t, tuning.SignTrusted, tuning.DeadAfter, "who is cut off knows it first")
}
