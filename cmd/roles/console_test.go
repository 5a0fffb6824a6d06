package roles

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/config"
)

// The setting and the console have the same modes. The tests of the console compare the colours.
func TestSettingsOfTheConsole(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{string(site.On), string(site.ReadOnly), config.ConsoleOff}, config.ConsoleModes())
}
