package questions

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// turnsIn is how many turns there are in a minute where each asks so many questions.
func turnsIn(t *testing.T, m *Meter, asked int) (turns int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute-1)
	defer cancel()
	for {
		one, err := m.Turn(ctx)
		if err != nil {
			return turns
		}
		turns++
		for range asked {
			Asked(one)
		}
	}
}

// Who asks more waits longer, but not without end.
func TestQuestionsArePaidFor(t *testing.T) {
	t.Parallel()
	for asked, turns := range map[int]int{0: 30, 1: 30, 2: 15, 3: 10, 1000: 4} {
		synctest.Test(t, func(t *testing.T) {
			require.Equal(t, turns, turnsIn(t, NewMeter(2*time.Second, 15*time.Second), asked), "%d questions each", asked)
		})
	}
}

// Questions of others are free, and those of who does not wait are paid for by who does.
func TestWhoPays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, began := NewMeter(2*time.Second, time.Minute), time.Now()
		Asked(t.Context())
		_, err := m.Turn(t.Context())
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		strip := m.Counted(t.Context())
		Asked(strip)
		Asked(context.WithoutCancel(strip))
		_, err = m.Turn(t.Context())
		require.NoError(t, err)
		require.Equal(t, 6*time.Second, time.Since(began))
	})
}

// After a rest many may be asked at once, and a user who waits is waited for.
func TestQuestionsAtOnceAfterARest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(2*time.Second, time.Minute).AtOnce(20)
		require.Equal(t, 20+30, turnsIn(t, m, 1), "and each pace")
		<-time.After(10 * time.Second)
		require.Equal(t, 5+30, turnsIn(t, m, 1), "what was saved")
		urgent, began := make(chan struct{}), time.Now()
		close(urgent)
		for range 100 {
			one, err := m.TurnUnless(t.Context(), urgent)
			require.NoError(t, err)
			Asked(one)
		}
		require.Zero(t, time.Since(began))
		_, err := m.Turn(t.Context())
		require.NoError(t, err)
		require.Equal(t, time.Minute, time.Since(began), "the next one waits for them, but not without end")
	})
}
