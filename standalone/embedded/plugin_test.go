package embedded

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
)

// The pool is unexported in Temporal's plugin. This test detects a version that moves it.
func TestTemporalPreparesStatementsOnce(t *testing.T) {
	t.Parallel()
	config := sqlite(Options{DataDir: t.TempDir(), Synchronous: "full"}, mainStore)
	var pools []any
	for range 2 { // each of Temporal's services opens the file
		db, err := sql.NewSQLAdminDB(sqlplugin.DbKindMain, config, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
		require.NoError(t, err)
		pool, err := poolOf(db)
		require.NoError(t, err)
		conn, err := pool.Conn(t.Context())
		require.NoError(t, err)
		require.NoError(t, conn.Raw(func(raw any) error {
			require.Equal(t, "*prepared.conn", fmt.Sprintf("%T", raw))
			return nil
		}))
		require.NoError(t, conn.Close())
		require.Equal(t, 1, pool.Stats().MaxOpenConnections)
		pools = append(pools, pool.DB)
		require.NoError(t, db.Exec("CREATE TABLE IF NOT EXISTS numbers (n INTEGER)"))
	}
	require.Same(t, pools[0], pools[1], "SQLite has one writer")
}
