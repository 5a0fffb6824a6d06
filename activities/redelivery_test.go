package activities_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/timer"
)

// failures are failed timers on pages of three, whose run and business id are
// the same.
type failures struct {
	ids    []string
	errors map[string]error
	tried  []string
}

func (f *failures) CountFailed(context.Context, timer.FailedFilter) (int, error) {
	return len(f.ids), nil
}

func (f *failures) ListFailed(_ context.Context, _ timer.FailedFilter, token []byte) (page []timer.View, next []byte, err error) {
	start, _ := strconv.Atoi(string(token))
	end := min(start+3, len(f.ids))
	for _, id := range f.ids[start:end] {
		page = append(page, timer.View{Key: timer.Key{BusinessType: "x", BusinessID: id}, RunID: id})
	}
	if end < len(f.ids) {
		next = []byte(strconv.Itoa(end))
	}
	return page, next, nil
}

func (f *failures) RedeliverRun(_ context.Context, key timer.Key, runID string) error {
	f.tried = append(f.tried, runID)
	return f.errors[key.BusinessID]
}

func redeliver(t *testing.T, f *failures, perSecond float64, from *timer.RedeliveryProgress) (done timer.Redelivered, err error) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	controller := &activities.Controller{Failures: f}
	env.RegisterActivity(controller.Redeliver)
	if from != nil {
		env.SetHeartbeatDetails(*from)
	}
	value, err := env.ExecuteActivity(controller.Redeliver, timer.Redelivery{PerSecond: perSecond})
	if err == nil {
		require.NoError(t, value.Get(&done))
	}
	return done, err
}

func seven() *failures {
	return &failures{ids: []string{"a", "b", "c", "d", "e", "f", "g"}, errors: map[string]error{}}
}

func counts(d timer.Redelivered) []int { return []int{*d.Found, d.Redelivered, d.Skipped, d.Failed} }

func TestRedeliverAllPages(t *testing.T) {
	t.Parallel()
	f := seven()
	f.errors["b"] = &timer.Error{Code: timer.AlreadyFinished}
	f.errors["c"] = &timer.Error{Code: timer.Overtaken}
	f.errors["d"] = &timer.Error{Code: timer.NotFound}
	f.errors["e"] = &timer.Error{Code: timer.Internal}
	done, err := redeliver(t, f, timer.MaxRedeliveryRate, nil)
	require.NoError(t, err)
	require.Equal(t, []int{7, 3, 3, 1}, counts(done))
	require.Equal(t, f.ids, f.tried, "each once, in order")
}

func TestRedeliverKeepsToItsRate(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, err := redeliver(t, seven(), 50, nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 6*20*time.Millisecond, "the first waits for nobody")
}

func TestRedeliverGoesOn(t *testing.T) {
	t.Parallel()
	found := 9
	before := timer.RedeliveryProgress{
		Redelivered: timer.Redelivered{Found: &found, Redelivered: 4, Skipped: 1}, Page: []byte("3"), After: "d",
	}
	f := seven()
	done, err := redeliver(t, f, timer.MaxRedeliveryRate, &before)
	require.NoError(t, err)
	require.Equal(t, []string{"e", "f", "g"}, f.tried)
	require.Equal(t, []int{9, 7, 1, 0}, counts(done), "counted once")

	before.After = "gone"
	f = seven()
	_, err = redeliver(t, f, timer.MaxRedeliveryRate, &before)
	require.NoError(t, err)
	require.Equal(t, []string{"d", "e", "f", "g"}, f.tried, "where the run is gone, its page begins anew")
}

// A timer that cannot be asked about holds its redelivery up, but not for ever.
func TestRedeliverWhileTemporalIsDown(t *testing.T) {
	t.Parallel()
	f := seven()
	f.errors["b"] = &timer.Error{Code: timer.Unavailable}
	_, err := redeliver(t, f, timer.MaxRedeliveryRate, nil)
	require.Error(t, err, "Temporal tries again from here")
	require.Equal(t, []string{"a", "b"}, f.tried)

	found := 7
	last := timer.RedeliveryProgress{Redelivered: timer.Redelivered{Found: &found, Redelivered: 1}, After: "a", Tries: 4}
	f.tried = nil
	done, err := redeliver(t, f, timer.MaxRedeliveryRate, &last)
	require.NoError(t, err)
	require.Equal(t, []int{7, 6, 0, 1}, counts(done))
	require.True(t, slices.Contains(f.tried, "g"))
}
