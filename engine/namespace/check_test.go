package namespace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/engine/kernel"
)

// A clock is off when its time lies more than a second outside of the call that asked
// for it, however long that took.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	before := time.Unix(1_000_000, 0)
	after := before.Add(3 * time.Second)
	for theirs, want := range map[time.Duration]string{
		-1500 * time.Millisecond: "the clock of Temporal is 1.5s behind this machine's", -time.Second: "", 0: "", 3 * time.Second: "", 4 * time.Second: "",
		4001 * time.Millisecond: "the clock of Temporal is 1.001s ahead of this machine's",
	} {
		said := kernel.DescribeClock(before, before.Add(theirs), after)
		if want == "" {
			require.Empty(t, said, theirs)
			continue
		}
		require.Contains(t, said, want)
		require.Contains(t, said, "NTP", "it says what to do")
	}
}

func TestPartitionsAndReuse(t *testing.T) {
	t.Parallel()
	require.Empty(t, describePartitions(1))
	require.Empty(t, describePartitions(0), "nothing is known")
	require.Contains(t, describePartitions(4), "4 partitions")
	require.Empty(t, describeReuse(time.Millisecond))
	require.Contains(t, describeReuse(992*time.Millisecond), "delayed by 992ms")
}
