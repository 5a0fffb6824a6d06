package fault

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// unhurried are the limits of a fault without an effect on timers: it is no excuse for lateness.
var unhurried = within(30*time.Second, 30*time.Second)

// The list fails while the visibility store does; everything else goes on.
func TestVisibilityTableGone(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		rename := func(from, to string) {
			p.deployment.Postgres.Exec("temporal_visibility", "ALTER TABLE "+from+" RENAME TO "+to)
		}
		const table, away = "executions_visibility", "away"
		p.run(trial{fault: "visibility table gone", plan: busy(750), limits: unhurried, strike: func(l *load.Load) {
			p.awaitBooked(l, 100)
			rename(table, away)
			p.requireAllButTheList(l)
			rename(away, table)
		}})
	})
}

// A worker that starts meanwhile can learn the queues only from Temporal.
func TestVisibilityTableLocked(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.run(trial{fault: "visibility table locked for 60 s, the " + p.worker + " restarted meanwhile", plan: busy(1000), limits: unhurried, strike: func(l *load.Load) {
			p.awaitBooked(l, 100)
			until := time.Now().Add(time.Minute)
			release := p.deployment.Postgres.Lock("temporal_visibility", "executions_visibility")
			p.requireProgress(l)
			p.restart(p.worker)
			p.requireAllButTheList(l)
			p.pause(time.Until(until))
			release()
		}})
	})
}

func TestVisibilityFileLocked(t *testing.T) {
	longOnly(t)
	t.Parallel()
	s := newStandalone(t)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.deployment.Dir, "visibility.db")+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	db.SetMaxOpenConns(1) // the transaction stays on it
	s.run(trial{fault: "visibility file locked", plan: busy(750), limits: unhurried, strike: func(l *load.Load) {
		s.awaitBooked(l, 100)
		_, err := db.Exec("BEGIN EXCLUSIVE")
		require.NoError(t, err)
		s.requireProgress(l)
		_, err = db.Exec("ROLLBACK")
		require.NoError(t, err)
	}})
}

// requireAllButTheList lets the load run on without its list.
func (b *bench) requireAllButTheList(l *load.Load) {
	b.t.Helper()
	b.requireProgress(l)
	status, _, err := b.api.Try("GET", "/v1/timers?business_type="+b.kind, nil)
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusServiceUnavailable, status, "the fault is real")
}

// requireProgress requires that the load makes progress: adds are acknowledged, and callbacks arrive.
func (b *bench) requireProgress(l *load.Load) {
	b.t.Helper()
	booked, rung := l.Booked(), b.witness.Count()
	b.pause(20 * time.Second)
	require.Greater(b.t, l.Booked(), booked+50, "adds are acknowledged")
	require.Greater(b.t, b.witness.Count(), rung+50, "timers ring")
}
