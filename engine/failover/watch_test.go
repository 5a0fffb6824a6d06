package failover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Looks that are made at once may end in another order. Two own signs that are seen in turn are no more than
// two. As many as there must be are, which is the control.
func TestLooksThatEndInAnotherOrder(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		signs int
		died  []string
	}{
		"two own signs":  {2, nil},
		"more of them":   {tuning.DeadSigns + 1, []string{"a"}},
		"none but these": {1, nil},
	} {
		w := newWatch("b", func(string) bool { return false })
		look := func(asked time.Duration, own int) []string {
			signs := []Sign{{Worker: "a", At: start}, {Worker: "b", At: start.Add(time.Duration(own) * tuning.SignEvery)}}
			return w.observe(signs, start.Add(asked), start.Add(asked+tuning.SignTimeout)).died
		}
		require.Empty(t, look(0, 0))
		var died []string
		for n := range 4 * tuning.DeadSigns {
			own := n % c.signs // after the last one come the looks before it
			asked := tuning.DeadAfter + time.Duration(own)*time.Millisecond
			died = append(died, look(asked, own+1)...)
		}
		require.Equal(t, c.died, died, name)
	}
}
