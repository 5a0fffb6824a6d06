package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// A longest wait that has already passed rings at once. The due time is then the time of the
// request, so that a default expiry counts from there.
func TestAShorterWaitRingsNow(t *testing.T) {
	t.Parallel()
	const policy = wire.Duration(30 * time.Second)
	for name, c := range map[string]struct {
		put, maxWait, due time.Duration
	}{
		"over when it is put":         {2 * time.Minute, time.Minute, 2 * time.Minute},
		"over long ago":               {50 * time.Minute, time.Second, 50 * time.Minute},
		"over just now":               {time.Minute, time.Minute, time.Minute},
		"still to come":               {2 * time.Minute, 3 * time.Minute, 3 * time.Minute},
		"over, and the longer one is": {90 * time.Minute, time.Second, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := timer.Admit(key, timer.Terms{Delay: in(time.Hour), MaxWait: in(time.Hour)}, "b-1", noon)
			require.NoError(t, err)
			spec, err = spec.Apply(timer.Change{Replace: true, Terms: timer.Terms{Delay: in(time.Hour), MaxWait: in(c.maxWait)}, At: *at(c.put)})
			require.NoError(t, err)
			require.Equal(t, *at(c.due), spec.DueAt)
			require.Equal(t, spec.DueAt.Add(policy.D()), spec.Latest(policy))

			again, err := spec.Apply(timer.Change{Replace: true, Terms: timer.Terms{Delay: in(time.Hour), MaxWait: in(c.maxWait)}, At: *at(c.put + time.Second)})
			require.NoError(t, err)
			require.GreaterOrEqual(t, again.DueAt, spec.DueAt, "the next one never moves it back into the past")
		})
	}
}
