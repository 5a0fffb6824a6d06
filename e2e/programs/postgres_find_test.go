package programs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/contract"
)

// What is found, sorted, counted and forecast on SQLite is on PostgreSQL as well.
func (p *production) finds(t *testing.T) {
	const kind = "labelled"
	full := time.Now().Add(time.Hour).Truncate(time.Minute)
	p.Policy(kind, contract.JSON{"callback": contract.JSON{"url": p.receiver.URL}, "limits": contract.JSON{"callbacks_per_second": 1}})
	for n, id := range []string{"second", "first", "upper"} {
		p.Add(contract.JSON{
			"business_type": kind, "business_id": id, "due_at": full.Add(-time.Duration(n) * time.Hour / 4).UTC().Format(time.RFC3339),
			"labels": timer.Labels{"customer": map[string]string{"upper": "Ab"}[id] + "ab", "env": "test"},
		})
	}
	timers := p.Client().Timers
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var ids []string
		for view, err := range timers.List(t.Context(), wakecall.Filter{Sort: timer.DueFirst, Labels: timer.Labels{"customer": "ab", "env": "test"}}) {
			require.NoError(c, err)
			ids = append(ids, view.BusinessID)
		}
		require.Equal(c, []string{"first", "second"}, ids)
		stats, err := timers.Stats(t.Context(), kind)
		require.NoError(c, err)
		require.Equal(c, timer.StatusCounts{Scheduled: 3}, stats.Timers)
		forecast, err := timers.Forecast(t.Context(), kind, wakecall.ForecastOptions{From: full, To: full.Add(time.Minute)})
		require.NoError(c, err)
		require.Len(c, forecast.Steps, 1)
		require.Equal(c, 1, forecast.Steps[0].Due)
	}, time.Minute, 100*time.Millisecond, "visibility lags behind, and counts are given again")
}
