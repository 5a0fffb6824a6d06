package roles

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/engine/namespace"
)

// A wrong setting is a warning, a failed check is not, and a right setting has no line.
func TestOneLineForEachFinding(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logFindings(slog.New(slog.NewTextHandler(&log, nil)), []namespace.Finding{
		{Check: "fairness"}, {Check: "retention", Wrong: "set it to 24h"}, {Check: "partitions", Unknown: errors.New("permission denied")},
	})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `level=WARN .* check=retention change="set it to 24h"`, lines[0])
	require.Regexp(t, `level=INFO .* check=partitions why="permission denied"`, lines[1])
}
