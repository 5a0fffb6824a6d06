package calls

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(second int) time.Time { return time.Unix(int64(1_800_000_000+second), 0) }

func told(story []Entry) (lines []string) {
	for _, e := range story {
		lines = append(lines, e.At.Sub(at(0)).String()+" "+e.Event)
	}
	return lines
}

// A due time stands in a story once it has come, once for each delivery and all who retry it, and never
// before what has set it.
func TestDueTimesInAStory(t *testing.T) {
	t.Parallel()
	event := func(second int, name string) Entry { return Entry{At: at(second), Event: name} }
	handed := func(second, due int) Entry { return Entry{At: at(second), Event: "handed_out", DueAt: at(due)} }
	early := event(4, "handed_out") // rings nothing
	for name, c := range map[string]struct {
		story []Entry
		open  time.Time
		want  []string
	}{
		"preloaded":                   {[]Entry{event(0, "booked"), handed(8, 10), event(11, "attempt")}, at(10), []string{"0s booked", "8s handed_out", "10s due", "11s attempt"}},
		"preloaded and held":          {[]Entry{event(0, "booked"), handed(8, 10)}, at(10), []string{"0s booked", "8s handed_out", "10s due"}},
		"preloaded, then moved":       {[]Entry{event(0, "booked"), handed(8, 10), event(9, "changed"), handed(49, 49)}, at(49), []string{"0s booked", "8s handed_out", "9s changed", "49s due", "49s handed_out"}},
		"late":                        {[]Entry{event(0, "booked"), event(20, "woken"), handed(21, 10)}, at(10), []string{"0s booked", "10s due", "20s woken", "21s handed_out"}},
		"booked for a time before":    {[]Entry{event(5, "booked"), handed(5, 1)}, at(1), []string{"5s booked", "1s due", "5s handed_out"}},
		"redelivered":                 {[]Entry{event(0, "booked"), handed(10, 10), event(12, "failed"), event(30, "redelivered"), handed(31, 10)}, time.Time{}, []string{"0s booked", "10s due", "10s handed_out", "12s failed", "30s redelivered", "31s handed_out"}},
		"handed out too early":        {[]Entry{event(0, "booked"), early}, at(70), []string{"0s booked", "4s handed_out"}},
		"no worker has taken it":      {[]Entry{event(0, "booked"), event(20, "signalled")}, at(10), []string{"0s booked", "10s due", "20s signalled"}},
		"preloaded, and not due yet":  {[]Entry{event(0, "booked"), handed(58, 61)}, at(61), []string{"0s booked", "58s handed_out"}},
		"ended before it":             {[]Entry{event(0, "booked"), event(3, "cancelled")}, time.Time{}, []string{"0s booked", "3s cancelled"}},
		"a story that cannot be read": {nil, at(10), nil},
	} {
		require.Equal(t, c.want, told(WithDue(c.story, c.open, at(60))), name)
	}
}

// An attempt tells how late it was, and for when the next one was planned.
func TestWhatAnAttemptTells(t *testing.T) {
	t.Parallel()
	late := int64(2_000)
	require.Equal(t, &late, Attempt{DueAt: at(1), SentAt: at(3)}.LateMS())
	late = 0
	require.Equal(t, &late, Attempt{DueAt: at(4), SentAt: at(3)}.LateMS(), "the clocks of two processes")
	require.Nil(t, Attempt{DueAt: at(1)}.LateMS(), "nothing was sent")
	require.Equal(t, at(70), Attempt{EndedAt: at(5), RetryIn: "1m5s"}.NextAt())
	require.True(t, Attempt{EndedAt: at(5)}.NextAt().IsZero())
	require.Equal(t, 2*time.Second, Entry{Event: "handed_out", At: at(8), DueAt: at(10)}.Ahead())
	require.Zero(t, Entry{Event: "handed_out", At: at(10), DueAt: at(10)}.Ahead())
	require.Zero(t, Entry{Event: "handed_out", At: at(10)}.Ahead())
	require.Zero(t, Entry{Event: "booked", At: at(8), DueAt: at(10)}.Ahead())
}
