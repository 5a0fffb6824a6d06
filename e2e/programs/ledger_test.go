package programs

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// Timers with known outcomes ring over restarts of the node. Every figure of the report is that
// of a count by hand, from what the API shows of each timer. WAKECALL_FAULT=long takes 20,000.
func TestTheLedgersAgreeWithACountByHand(t *testing.T) {
	t.Parallel()
	timers := 300
	if os.Getenv("WAKECALL_FAULT") == "long" {
		timers = 20_000
	}
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	node := env.Start()
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": r.URL}, "retry": contract.JSON{"steps": []string{"10ms"}}, "on_time": "5ms"})
	ways := map[string]contract.JSON{
		"taken":     {"callback": contract.JSON{"url": r.URL}},
		"gone":      {"callback": contract.JSON{"url": r.On("/gone", receiver.Status(http.StatusGone))}},
		"twice":     {"callback": contract.JSON{"url": r.On("/once", receiver.FailFirst(1))}},
		"cancelled": {"delay": "1h"},
		"missed":    {"paused": true, "expires_after": "100ms"},
	}
	ends := map[string]string{"taken": "delivered", "gone": "failed", "twice": "delivered", "cancelled": "cancelled", "missed": "expired"}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range ways {
			if !yield(name) {
				return
			}
		}
	})
	want, latenesses := slo.Counts{}, []int64{}
	restart := timers / 3
	var booked []string
	for n := range timers {
		way := names[n%len(names)]
		body := contract.JSON{"business_type": kind, "business_id": fmt.Sprintf("%s-%d", way, n), "delay": "200ms", "payload": "12345"}
		for name, value := range ways[way] {
			body[name] = value
		}
		env.Add(body)
		booked = append(booked, way)
		if way == "cancelled" {
			env.Do("DELETE", fmt.Sprintf("/v1/timers/%s/%s-%d", kind, way, n), nil, http.StatusOK)
		}
		if n%restart == restart-1 {
			require.Zero(t, node.Stop())
			node = env.Start()
		}
	}
	rule := env.Add(contract.JSON{"business_type": kind, "business_id": "rule", "recurrence": contract.JSON{"every": "1s", "max_occurrences": 3}})
	env.Await(kind+"/rule", "delivered")
	count := func(outcome timer.Outcome) {
		want.Observe(outcome, 5*time.Millisecond)
		if outcome.LatenessMS != nil && outcome.Status != timer.Cancelled {
			latenesses = append(latenesses, max(*outcome.LatenessMS, 0))
		}
	}
	api := env.Client()
	for n, way := range booked {
		want.Book(len(`"12345"`))
		id := fmt.Sprintf("%s-%d", way, n)
		env.Await(kind+"/"+id, ends[way])
		shown, err := api.Timers.Get(t.Context(), wire.Key{BusinessType: kind, BusinessID: id})
		require.NoError(t, err)
		count(timer.Outcome{Status: shown.Status, Attempts: shown.Attempts, LatenessMS: shown.LatenessMS})
	}
	want.Book(0)
	for past, err := range api.Timers.Occurrences(t.Context(), wire.Key{BusinessType: kind, BusinessID: "rule"}) {
		require.NoError(t, err)
		count(past.Outcome)
	}
	require.NotEmpty(t, rule.RunID)
	require.Zero(t, node.Stop())
	env.Start()

	reports, err := env.Client().Timers.Objectives(t.Context(), client.ObjectivesOptions{BusinessType: kind, Window: 24 * time.Hour, Target: 0.9})
	require.NoError(t, err)
	require.Len(t, reports.BusinessTypes, 1)
	got := reports.BusinessTypes[0]
	slices.Sort(latenesses)
	for name, figures := range map[string][2]int64{
		"booked": {want.Booked, got.Booked}, "bytes": {want.Bytes, got.Bytes}, "rung": {want.Rung, got.Rung}, "on time": {want.OnTime, got.OnTime},
		"missed": {want.Missed, got.Missed}, "delivered": {want.Delivered, got.Delivered}, "failed": {want.Failed, got.Failed},
		"expired": {want.Expired, got.Expired}, "attempts": {want.Attempts, got.Attempts}, "worst": {latenesses[len(latenesses)-1], *got.WorstMS},
	} {
		require.Equal(t, figures[0], figures[1], "%s: by hand, and in the report", name)
	}
	require.Equal(t, wire.Duration(5*time.Millisecond), got.Objective.OnTime)
	require.InDelta(t, float64(want.OnTime)/float64(want.Rung+want.Missed), *got.Share, 1e-9)
	for q, shown := range map[float64]int64{0.5: *got.P50MS, 0.99: *got.P99MS} {
		exact := latenesses[max(int(float64(len(latenesses))*q+0.9999999), 1)-1]
		require.GreaterOrEqual(t, shown, exact)
		require.LessOrEqual(t, float64(shown), float64(exact)*1.0625)
	}
}
