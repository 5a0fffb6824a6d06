package processid

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that was killed has ended, and one that runs has not.
func TestEnded(t *testing.T) {
	t.Parallel()
	other := exec.Command("sleep", "60")
	require.NoError(t, other.Start())
	id := func(place string) string {
		return strings.Join([]string{"wakecall", place, strconv.Itoa(other.Process.Pid), "1b4e28ba"}, "-")
	}
	require.False(t, Ended(id(place())), "it runs")
	require.NoError(t, other.Process.Kill())
	require.Error(t, other.Wait(), "killed")
	require.True(t, Ended(id(place())))
	require.False(t, Ended(id("000000000000")), "of another place nothing is known")
	require.False(t, Ended(New()), "this process runs")
}

func TestIDs(t *testing.T) {
	t.Parallel()
	require.True(t, Valid(New()), New())
	require.NotEqual(t, New(), New())
	for _, id := range []string{
		"", "wakecall-", "4711@box", "wakecall-6dbebbcd-d97e-4c9e-abaa-7058ca3ec571", "wakecall-" + place(), "wakecall-" + place() + "--1b4e28ba",
		"wakecall-" + place() + "-0-1b4e28ba", "wakecall-" + place() + "--1-1b4e28ba", "wakecall-" + place() + "-99999999999999999999-1b4e28ba",
		New() + "/x", "x" + New(),
	} {
		require.False(t, Valid(id), id)
		require.False(t, Ended(id), id)
	}
	require.False(t, Ended("wakecall-"+nowhere+"-999999999-1b4e28ba"), "nothing is known of it")
}
