package systems

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// What is measured survives a power cut, unlike what the tests run on.
func TestPostgresIsDurable(t *testing.T) {
	for want, settings := range map[string][]string{"on": {durable}, "off": nil} {
		server := process.NewPostgres(t, "temporal", "secret", settings...)
		connection, err := pgx.Connect(t.Context(), server.URL("postgres"))
		require.NoError(t, err)
		var fsync string
		require.NoError(t, connection.QueryRow(t.Context(), "SHOW fsync").Scan(&fsync))
		require.NoError(t, connection.Close(t.Context()))
		require.Equal(t, want, fsync)
	}
}
