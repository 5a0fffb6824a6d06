package timer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestFilterCheck(t *testing.T) {
	t.Parallel()
	require.Empty(t, timer.Filter{}.Check())
	good := timer.Filter{BusinessType: "x", BusinessID: "o-1", Status: timer.Failed, DueFrom: 1, DueTo: 1, EndedFrom: 1, EndedTo: 2}
	require.Empty(t, good.Check())
	for pointer, alter := range map[string]func(*timer.Filter){
		"/business_type": func(f *timer.Filter) { f.BusinessType = "A'" },
		"/business_id":   func(f *timer.Filter) { f.BusinessID = "a b" },
		"/status":        func(f *timer.Filter) { f.Status = "lost" },
		"/due_to":        func(f *timer.Filter) { f.DueFrom = 2 },
		"/labels/A":      func(f *timer.Filter) { f.Labels = timer.Labels{"A": "1"} },
		"/ended_to":      func(f *timer.Filter) { f.EndedFrom = 3 },
	} {
		filter := good
		alter(&filter)
		errs := filter.Check()
		require.Len(t, errs, 1, pointer)
		require.Equal(t, pointer, errs[0].Pointer)
	}
}

func TestFilterAdmits(t *testing.T) {
	t.Parallel()
	for due, want := range map[wire.Instant]bool{1: false, 2: true, 3: true, 4: false} {
		require.Equal(t, want, timer.Filter{DueFrom: 2, DueTo: 3}.Admits(timer.View{DueAt: due}))
		require.True(t, timer.Filter{}.Admits(timer.View{DueAt: due}))
	}
	require.False(t, timer.Filter{Labels: timer.Labels{"a": "x"}}.Admits(timer.View{Labels: timer.Labels{"a": "X"}}))
}

// A filter without a status is about timers in every one, and so about none that has ended only.
func TestNoStatusIsNoEnd(t *testing.T) {
	t.Parallel()
	ended := map[timer.Status]bool{timer.Delivered: true, timer.Failed: true, timer.Expired: true, timer.Cancelled: true}
	for _, status := range append(timer.Statuses(), "") {
		require.Equal(t, ended[status], status.Finished(), status)
	}
}
