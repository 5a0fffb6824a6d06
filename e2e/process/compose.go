package process

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// ComposeFile is the path of docker-compose.yml.
func ComposeFile() string { return filepath.Join(checkout(), "docker-compose.yml") }

// Settings runs deploy/env.sh, and returns the file it wrote and the API key it
// showed.
func Settings(t testing.TB) (file, key string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), ".env")
	printed, err := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(checkout(), "deploy", "env.sh"), file).CombinedOutput()
	require.NoError(t, err, "%s", printed)
	lines := strings.Fields(string(printed))
	return file, lines[len(lines)-1]
}

// Compose loads a compose file as the docker CLI does, with nothing but the
// settings of a file.
func Compose(ctx context.Context, file, settings string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnvFiles(settings), cli.WithDotEnv)
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}
