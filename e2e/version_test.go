package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `^\S+\n$`, execute(t, process.Wakecall(t), "version"))
}

// The image is built from a tree without git, with the flags of the
// Dockerfile.
func TestVersionWithoutGit(t *testing.T) {
	t.Parallel()
	dir := buildContext(t)
	require.NoDirExists(t, filepath.Join(dir, ".git"))
	dockerfile, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(dockerfile), "\nARG VERSION=devel\n")
	flags := regexp.MustCompile(`-ldflags="([^"]*)"`).FindStringSubmatch(string(dockerfile))
	require.Len(t, flags, 2)
	printed := func(ldflags string) string {
		t.Helper()
		program := filepath.Join(t.TempDir(), "wakecall")
		command := exec.CommandContext(t.Context(), "go", "build", "-ldflags", ldflags, "-o", program, ".")
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return strings.TrimSpace(execute(t, program, "version"))
	}
	named := func(version string) string {
		return os.Expand(flags[1], func(name string) string {
			require.Equal(t, "VERSION", name)
			return version
		})
	}
	require.Equal(t, "v9.8.7-6-gabcdef0", printed(named("v9.8.7-6-gabcdef0")))
	require.Equal(t, "devel", printed(""), "nobody said anything")
}
