package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// everySecond are timers, one in each second of the hours from an instant on.
func everySecond(from wire.Instant, hours int) *visible {
	v := &visible{due: map[wire.Instant]int{}}
	for second := range hours * 3600 {
		v.due[from.Add(time.Duration(second)*time.Second)] = 1
	}
	return v
}

// A page of a list by due time counts few timers beside its own, wherever they lie.
func TestSortedPagesCountLittle(t *testing.T) {
	t.Parallel()
	const size, all = 50, 6 * 3600
	for name, c := range map[string]struct {
		ahead time.Duration
		sort  timer.Sort
		most  int
	}{
		"soon":         {time.Minute, timer.DueFirst, all / 5},
		"next month":   {30 * 24 * time.Hour, timer.DueFirst, 5 * all},
		"from the end": {time.Minute, timer.DueLast, 5 * all},
		"a month ago":  {-30 * 24 * time.Hour, timer.DueFirst, 5 * all},
	} {
		first := minuteIn(c.ahead)
		v := everySecond(first, 6)
		engine := New(Config{Client: v, PolicyTTL: time.Hour})
		t.Cleanup(engine.Leave)
		engine.Forecasts.limit(10)
		var listed []wire.Instant
		for token := []byte(nil); len(listed) < 3*size; {
			page, err := engine.Timers.List(t.Context(), PageRequest{Sort: c.sort, Size: size, Token: token})
			require.NoError(t, err)
			for _, view := range page.Timers {
				listed = append(listed, view.DueAt)
			}
			token = page.Next
			require.NotEmpty(t, token)
		}
		for i, at := range listed {
			want := first.Add(time.Duration(i) * time.Second)
			if c.sort == timer.DueLast {
				want = first.Add(time.Duration(all-1-i) * time.Second)
			}
			require.Equal(t, want, at, name)
		}
		require.LessOrEqual(t, v.counted, c.most, name)
	}
}
