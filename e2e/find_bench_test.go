package e2e

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/timer"
)

// BenchmarkAmongAMillion asks a gateway whose visibility store has a million scheduled timers
// of one type, spread over the day ahead (WAKECALL_SEED says how many). They are rows only,
// copies of that of a timer that is real.
func BenchmarkAmongAMillion(b *testing.B) {
	dir := b.TempDir()
	addr, stop, err := testenv.Temporal(dir)
	require.NoError(b, err)
	b.Cleanup(stop)
	env := testenv.Open(b, addr)
	env.Policy("many", testenv.JSON{"callback": testenv.JSON{"url": "http://127.0.0.1:29999/"}, "limits": testenv.JSON{"callbacks_per_second": 20}})
	env.Add(testenv.JSON{"business_type": "many", "business_id": "real", "delay": "720h", "labels": timer.Labels{"customer": "42"}})
	rows := 1_000_000
	if text := os.Getenv("WAKECALL_SEED"); text != "" {
		rows, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	begin := time.Now().Truncate(time.Minute).Add(time.Minute).UTC()
	seed(b, filepath.Join(dir, "visibility.db"), rows, begin)

	ask := func() timer.Forecast {
		forecast, err := env.Wakecall().Timers.Forecast(b.Context(), "many", wakecall.ForecastOptions{From: begin, To: begin.Add(24 * time.Hour)})
		require.NoError(b, err)
		return forecast
	}
	at := time.Now()
	wrong := 0
	for i, step := range ask().Steps {
		want := 0
		for second := range 60 {
			want += at86400(rows, i*60+second)
		}
		if difference := step.Due - want; difference*100 > want || -difference*100 > want {
			wrong++
		}
	}
	b.Logf("the first forecast of %d timers took %s; minutes that are off by more than 1 %%: %d", rows, time.Since(at), wrong)
	require.LessOrEqual(b, wrong, 1, "the minute of the real timer")
	b.Run("forecast", func(b *testing.B) {
		for b.Loop() {
			ask()
		}
	})
	for name, path := range map[string]string{
		"due":   "/v1/timers?" + url.Values{"business_type": {"many"}, "status": {"scheduled"}, "sort": {"due"}}.Encode(),
		"label": "/v1/timers?" + url.Values{"business_type": {"many"}, "status": {"scheduled"}, "label": {"customer=42"}}.Encode(),
		"stats": "/v1/stats",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.Equal(b, 200, env.Do("GET", path, nil).Status)
			}
		})
	}
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

// seed copies the row of the timer many/real.
func seed(b *testing.B, file string, rows int, begin time.Time) {
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
	for first := 1; first <= rows; first += batch {
		_, err = db.Exec(`WITH RECURSIVE c(i) AS (SELECT ? UNION ALL SELECT i+1 FROM c WHERE i < ?)
			INSERT INTO executions_visibility (namespace_id, run_id, start_time, execution_time, workflow_id, workflow_type_name, status, encoding, task_queue, search_attributes, root_workflow_id, root_run_id)
			SELECT namespace_id, printf('%032x', i), start_time, execution_time, 'many/' || i, workflow_type_name, status, encoding, task_queue,
				json_remove(json_set(search_attributes, '$.`+due+`', strftime('%Y-%m-%dT%H:%M:%fZ', ?, '+' || (i * 7919 % 86400) || ' seconds')), '$.`+labels+`'), 'many/' || i, 'x'
			FROM executions_visibility, c WHERE workflow_id = 'many/real'`,
			first, min(first+batch-1, rows), begin.Format("2006-01-02 15:04:05"))
		require.NoError(b, err)
	}
}
