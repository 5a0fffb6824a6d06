package embedded

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"sync"

	"github.com/jmoiron/sqlx"
	serverconfig "go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"

	"github.com/wakecall/wakecall/standalone/embedded/prepared"
)

// pluginName names Temporal's SQLite with connections that cache their prepared statements
// (docs/decisions/0010-synchronous-full.md).
const pluginName = "sqlite-prepared"

func init() { sql.RegisterPlugin(pluginName, &plugin{prepared: map[*sqlx.DB]bool{}}) }

// plugin is Temporal's own, except for its connections.
type plugin struct {
	mu       sync.Mutex
	prepared map[*sqlx.DB]bool
}

// GetVisibilityQueryConverter implements [sqlplugin.Plugin].
func (p *plugin) GetVisibilityQueryConverter() sqlplugin.VisibilityQueryConverter {
	converter, _ := sql.GetPluginVisibilityQueryConverter(sqliteplugin.PluginName) // its import registers it
	return converter
}

// CreateDB implements [sqlplugin.Plugin].
//
//nolint:revive // Temporal's signature
func (p *plugin) CreateDB(
	kind sqlplugin.DbKind, config *serverconfig.SQL, r resolver.ServiceResolver, logger log.Logger, handler metrics.Handler,
) (sqlplugin.GenericDB, error) {
	own := *config
	own.PluginName = sqliteplugin.PluginName
	db, err := sql.NewSQLAdminDB(kind, &own, r, logger, handler)
	if err != nil {
		return nil, err
	}
	pool, err := poolOf(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := p.prepare(pool, &own); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// poolOf returns the unexported pool of connections in Temporal's plugin.
func poolOf(db sqlplugin.AdminDB) (*sqlx.DB, error) {
	field := reflect.Indirect(reflect.ValueOf(db)).FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sqlx.DB]() {
		return nil, fmt.Errorf("%T has no pool of connections named db: Temporal's plugin was changed", db)
	}
	return (*sqlx.DB)(field.UnsafePointer()), nil
}

// prepare replaces the connections of a pool. Temporal shares a pool among all services of a
// process that open the same file. The first one finds it unused.
func (p *plugin) prepare(pool *sqlx.DB, config *serverconfig.SQL) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.prepared[pool] {
		return nil
	}
	before := pool.DB
	pool.DB = stdsql.OpenDB(prepared.Connector(before.Driver(), dsn(config)))
	pool.SetMaxOpenConns(1) // as in Temporal's plugin: SQLite has one writer
	pool.SetMaxIdleConns(1)
	p.prepared[pool] = true
	return before.Close()
}

// dsn returns the data source name that Temporal's plugin derives from a configuration of this
// package.
func dsn(config *serverconfig.SQL) string {
	values := url.Values{"_time_format": {"sqlite"}}
	for key, value := range config.ConnectAttributes {
		if key == "mode" {
			values.Set(key, value)
			continue
		}
		values.Add("_pragma", key+"="+value)
	}
	return "file:" + config.DatabaseName + "?" + values.Encode()
}
