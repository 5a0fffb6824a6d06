package scenario_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
)

// mortal is a subject that can be killed, and a disk that records what happens to it.
type mortal struct {
	*stalling
	done []string
}

func (m *mortal) Kill() error   { m.done = append(m.done, "kill"); return nil }
func (m *mortal) Revive() error { m.done = append(m.done, "revive"); return nil }
func (m *mortal) Sync() error   { m.done = append(m.done, "sync"); return nil }
func (m *mortal) Cut() error    { m.done = append(m.done, "cut"); return nil }

// What is acknowledged before the crash must ring; the others may.
func TestACrashComesAmidBookings(t *testing.T) {
	t.Parallel()
	plan := scenario.Plan{Name: "crash", Kind: scenario.Crash, For: 950 * time.Millisecond, Rate: 10, Ahead: time.Minute}
	for power, want := range map[bool][]string{false: {"kill", "revive"}, true: {"sync", "kill", "cut", "revive"}} {
		synctest.Test(t, func(t *testing.T) {
			m := &mortal{stalling: newStalling(10 * time.Millisecond)}
			plan.Power = power
			begin := time.Now()
			booking, err := scenario.NewRunner(m, m).Run(t.Context(), plan)
			require.NoError(t, err)
			require.Equal(t, want, m.done)
			require.Len(t, booking.Expected, 10)
			require.Equal(t, time.Minute+950*time.Millisecond, booking.Expected[0].Due.Sub(begin))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m := &mortal{stalling: newStalling(time.Second)}
		booking, err := scenario.NewRunner(mute{m}, nil).Run(t.Context(), scenario.Plan{
			Name: "crash", Kind: scenario.Crash, For: 950 * time.Millisecond, Rate: 10, Ahead: time.Minute,
		})
		require.NoError(t, err)
		require.Empty(t, booking.Expected)
		require.Len(t, booking.Free, 10)
		require.Zero(t, booking.Calls.Failed, "it was the crash")
	})
	plan.Power = true
	booking, err := scenario.NewRunner(&mortal{stalling: newStalling(0)}, nil).Run(t.Context(), plan)
	require.NoError(t, err)
	require.NotEmpty(t, booking.Skipped, "no disk")
}

// mute answers no booking before the call is given up.
type mute struct{ *mortal }

func (mute) Add(ctx context.Context, _ subject.Timer) error {
	<-ctx.Done()
	return ctx.Err()
}
