package operations

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// BenchmarkAmongAMillion asks a gateway whose visibility store has a million scheduled timers
// of one type, spread over the day ahead (WAKECALL_SEED says how many). They are rows only,
// copies of that of a timer that is real.
func BenchmarkAmongAMillion(b *testing.B) {
	dir := b.TempDir()
	addr := testenv.AloneIn(b, dir)
	env := testenv.Open(b, addr)
	env.StartWorker()
	policy := testenv.JSON{"callback": testenv.JSON{"url": "http://127.0.0.1:29999/"}}
	env.Policy("many", policy)
	env.Policy("few", policy)
	real := env.Add(testenv.JSON{"business_type": "many", "business_id": "real", "delay": "720h", "labels": timer.Labels{"customer": "42"}})
	rows := 1_000_000
	if text := os.Getenv("WAKECALL_SEED"); text != "" {
		var err error
		rows, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	at := time.Now()
	begin := seed(b, filepath.Join(dir, "visibility.db"), rows, wire.At(real.DueAt))
	b.Logf("%d timers were seeded within %s", rows, time.Since(at))

	ask := func() forecast.Forecast {
		forecast, err := env.Wakecall().Timers.Forecast(b.Context(), "many", wakecall.ForecastOptions{From: begin, To: begin.Add(24 * time.Hour)})
		require.NoError(b, err)
		return forecast
	}
	at = time.Now()
	first := ask()
	b.Logf("the first forecast, of a gateway that has just started, took %s", time.Since(at))
	kept := testenv.Open(b, addr)
	go kept.Engine.Forecasts.Run(b.Context())
	<-time.After(20 * time.Second) // for its counts: what is measured is a question that nobody asked before
	at = time.Now()
	_, err := kept.Wakecall().Timers.Forecast(b.Context(), "many", wakecall.ForecastOptions{})
	require.NoError(b, err)
	b.Logf("the first forecast, of a gateway that is up for 20 seconds, took %s", time.Since(at))
	exact(b, first, rows)
	policy["limits"] = testenv.JSON{"callbacks_per_second": rows / 100_000} // less than fall due in any minute
	env.Policy("many", policy)
	require.Eventually(b, func() bool {
		forecast := ask()
		return forecast.CallbacksPerSecond != nil && forecast.CountedAt > first.CountedAt
	}, time.Minute, time.Second, "policies are cached for a moment, and counts are kept")
	exact(b, ask(), rows)
	b.Run("forecast", func(b *testing.B) {
		for b.Loop() {
			ask()
		}
	})
	booked := 0
	for _, kind := range []string{"many", "few"} { // with a forecast of each booking, and without
		b.Run("booking/"+kind, func(b *testing.B) {
			for b.Loop() {
				booked++
				env.Add(testenv.JSON{"business_type": kind, "business_id": strconv.Itoa(-booked), "due_at": begin.Add(12 * time.Hour).Format(time.RFC3339)})
			}
		})
	}
	for _, question := range []struct{ name, path string }{
		{"due", "/v1/timers?business_type=many&status=scheduled&sort=due"},
		{"-due", "/v1/timers?business_type=many&status=scheduled&sort=-due"},
		{"label", "/v1/timers?business_type=many&status=scheduled&label=customer=42"},
		{"id", "/v1/timers?business_id=real"},
		{"stats/many", "/v1/stats?business_type=many"},
		{"stats", "/v1/stats"},
	} {
		b.Run(question.name, func(b *testing.B) {
			at := time.Now()
			require.Equal(b, 200, env.Do("GET", question.path, nil).Status)
			b.Logf("the first took %s", time.Since(at))
			for b.Loop() {
				require.Equal(b, 200, env.Do("GET", question.path, nil).Status)
			}
		})
	}
}

// exact holds each minute of a forecast to what was seeded.
func exact(b *testing.B, forecast forecast.Forecast, rows int) {
	require.Len(b, forecast.Steps, 24*60)
	wrong := 0
	for i, step := range forecast.Steps {
		want := 0
		for second := range 60 {
			want += at86400(rows, i*60+second)
		}
		if difference := step.Due - want; difference*100 > want || -difference*100 > want {
			wrong++
		}
	}
	b.Logf("minutes that are off by more than 1 %%: %d", wrong)
	require.Zero(b, wrong)
}

// at86400 is how many rows fall due in a second of the day.
func at86400(rows, second int) (n int) {
	n = rows / 86400
	for i := n*86400 + 1; i <= rows; i++ {
		if i*7919%86400 == second {
			n++
		}
	}
	return n
}

// seed copies the row of the timer many/real, with another due time in its attribute and in
// its memo.
func seed(b *testing.B, file string, rows int, real wire.Instant) (begin time.Time) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(60000)")
	require.NoError(b, err)
	defer func() { require.NoError(b, db.Close()) }()
	var attributes string
	require.Eventually(b, func() bool {
		return db.QueryRow("SELECT search_attributes FROM executions_visibility WHERE workflow_id = 'many/real'").Scan(&attributes) == nil
	}, 20*time.Second, 50*time.Millisecond, "visibility lags behind")
	var names map[string]any
	require.NoError(b, json.Unmarshal([]byte(attributes), &names))
	due, labels := "", ""
	for name := range names {
		switch {
		case strings.HasPrefix(name, "Datetime"):
			due = name
		case strings.HasPrefix(name, "KeywordList"):
			labels = name
		}
	}
	const batch = 20_000
	begin = time.Now().Truncate(time.Minute).Add(time.Hour / 4).UTC()
	for first := 1; first <= rows; first += batch {
		_, err = db.Exec(`WITH RECURSIVE c(i, due) AS (SELECT ?1, '' UNION ALL SELECT i+1, strftime('%Y-%m-%dT%H:%M:%fZ', ?3, '+' || ((i+1) * 7919 % 86400) || ' seconds') FROM c WHERE i <= ?2)
			INSERT INTO executions_visibility (namespace_id, run_id, start_time, execution_time, workflow_id, workflow_type_name, status, encoding, task_queue, search_attributes, memo, root_workflow_id, root_run_id)
			SELECT namespace_id, printf('%032x', i), start_time, execution_time, 'many/' || i, workflow_type_name, status, encoding, task_queue,
				json_remove(json_set(search_attributes, '$.`+due+`', due), '$.`+labels+`'),
				CAST(replace(CAST(memo AS TEXT), ?4, due) AS BLOB), 'many/' || i, 'x'
			FROM executions_visibility, c WHERE workflow_id = 'many/real' AND i > ?1`,
			first-1, min(first+batch-1, rows)-1, begin.Format("2006-01-02 15:04:05"), real.String())
		require.NoError(b, err)
	}
	return begin
}
