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

// Settings runs deploy/env.sh. It returns the file it wrote, beside the secrets, and the API
// key it showed.
func Settings(t testing.TB) (file, key string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), ".env")
	printed, err := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(checkout(), "deploy", "env.sh"), file).CombinedOutput()
	require.NoError(t, err, "%s", printed)
	lines := strings.Fields(string(printed))
	return file, lines[len(lines)-1]
}

// Compose loads a compose file as the docker CLI does, with only the settings of a file, and
// with every profile.
func Compose(ctx context.Context, file, settings string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnvFiles(settings), cli.WithDotEnv, cli.WithProfiles([]string{"*"}))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}

// secretsDir is where a container finds its secrets.
const secretsDir = "/run/secrets/"

// SecretFile is the file on this machine that a container sees as path.
func SecretFile(project *types.Project, path string) (file string, ok bool) {
	name, ok := strings.CutPrefix(path, secretsDir)
	return project.Secrets[name].File, ok
}
