package production

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// File is the compose file of production.
var File = filepath.Join(process.Checkout(), "docker-compose.yml")

// Settings runs deploy/env.sh, and returns the file it wrote and the API key it
// showed.
func Settings(t testing.TB) (file, key string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), ".env")
	script := filepath.Join(process.Checkout(), "deploy", "env.sh")
	printed, err := exec.CommandContext(t.Context(), "/bin/sh", script, file).Output()
	require.NoError(t, err)
	lines := strings.Fields(string(printed))
	return file, lines[len(lines)-1]
}

// Load loads a compose file as the docker CLI does, with nothing but the
// settings of a file.
func Load(ctx context.Context, file, settings string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnvFiles(settings), cli.WithDotEnv)
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}
