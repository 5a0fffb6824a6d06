package roles

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/config"
)

// The settings and the console have the same values.
func TestSettingsOfTheConsole(t *testing.T) {
	t.Parallel()
	var modes []string
	for _, mode := range site.Modes() {
		modes = append(modes, string(mode))
	}
	require.Equal(t, modes, config.ConsoleModes())
	require.Equal(t, site.Colours(), config.ConsoleColours())
}
