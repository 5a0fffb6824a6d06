package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

func TestSettingsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	file, key := process.Settings(t)
	require.Len(t, key, 64)
	for path, mode := range map[string]os.FileMode{file: 0o600, secretsOf(file): 0o700 | os.ModeDir, secretsOf(file, "secret_key"): 0o444} {
		stat, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, stat.Mode(), path)
	}
	before := written(t, file)
	require.NotContains(t, before, key, "only its digest is kept")
	require.NotContains(t, process.Execute(t, "/bin/sh", "../../deploy/env.sh", file), "API key")
	require.Equal(t, before, written(t, file))
	require.NoError(t, os.Remove(secretsOf(file, "redis_url")))
	process.Execute(t, "/bin/sh", "../../deploy/env.sh", file)
	require.FileExists(t, secretsOf(file, "redis_url"), "what a newer version asks for is made")
	other, otherKey := process.Settings(t)
	require.NotEqual(t, key, otherKey)
	for line := range strings.Lines(before) {
		if !strings.HasPrefix(line, "#") {
			require.NotContains(t, written(t, other), line, "every value is random")
		}
	}
}

// secretsOf is the directory of the secrets beside a file of settings.
func secretsOf(file string, name ...string) string {
	return filepath.Join(append([]string{filepath.Dir(file), "secrets"}, name...)...)
}

// written is all output of deploy/env.sh.
func written(t *testing.T, file string) (text string) {
	t.Helper()
	files, err := filepath.Glob(secretsOf(file, "*"))
	require.NoError(t, err)
	for _, file := range append(files, file) {
		part, err := os.ReadFile(file)
		require.NoError(t, err)
		text += string(part)
	}
	return text
}

// The steps of `make up` before Docker, in a fresh clone, and in one with an empty file.
func TestMakeUpMakesItsSettings(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]bool{"fresh": false, "with an empty .env": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clone(t)
			if left {
				require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), nil, 0o600))
			}
			docker := filepath.Join(dir, "docker")
			require.NoError(t, os.WriteFile(docker, []byte("#!/bin/sh\necho \"docker $*\"\n"), 0o700))
			up := func() string {
				command := exec.CommandContext(t.Context(), "make", "up")
				command.Dir, command.Env = dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
				output, err := command.CombinedOutput()
				require.NoError(t, err, "%s", output)
				require.Contains(t, string(output), "\ndocker compose up --build --detach --wait\n")
				return string(output)
			}
			require.Contains(t, up(), "send it as a bearer token")
			before := written(t, filepath.Join(dir, ".env"))
			project, err := process.Compose(t.Context(), filepath.Join(dir, "docker-compose.yml"), filepath.Join(dir, ".env"))
			require.NoError(t, err)
			for _, secret := range project.Secrets {
				require.FileExists(t, secret.File)
			}
			require.NotContains(t, up(), "bearer token")
			require.Equal(t, before, written(t, filepath.Join(dir, ".env")))
		})
	}
}

// clone is a copy of the files that `make up` needs from a fresh clone.
func clone(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS("../../deploy")))
	for _, name := range []string{"Makefile", "docker-compose.yml"} {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}
