package deploy_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/require"
)

func TestDockerfile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	text := string(raw)
	module, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(string(module))[1]
	require.Regexp(t, `(?m)^FROM golang:`+regexp.QuoteMeta(version)+`-alpine(@\S+)? AS build$`, text, "the compiler that the tests ran with")
	var bases []string
	for _, stage := range regexp.MustCompile(`(?m)^FROM (\S+) AS (\S+)`).FindAllStringSubmatch(text, -1) {
		if strings.Contains(stage[1], ":") {
			require.Regexp(t, pinned, stage[1])
			stage[1] = "pinned"
		}
		bases = append(bases, stage[1]+" "+stage[2])
	}
	require.Equal(t, []string{
		"pinned build", "build build-standalone", "pinned tools", "scratch base", "base standalone", "base wakecall",
	}, bases)
	require.Contains(t, text, "\nARG VERSION=devel\n")
	require.Equal(t, 2, strings.Count(text, `-ldflags="-w -X main.version=${VERSION}"`), "by what a release is named")
	final := text[strings.Index(text, "FROM scratch"):]
	require.Contains(t, final, "\nUSER 65532:65532\n")
	require.Contains(t, final, "ca-certificates.crt")
	ignored, err := os.ReadFile("../../.dockerignore")
	require.NoError(t, err)
	for _, secret := range []string{".env", ".git", "data", "secrets", "backups"} {
		require.Contains(t, strings.Fields(string(ignored)), secret)
	}
}

// The images are built from the files that .dockerignore leaves, without cgo.
func TestImageContextSuffices(t *testing.T) {
	t.Parallel()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	require.Equal(t, 2, len(regexp.MustCompile(`CGO_ENABLED=0 go build -trimpath -pgo=(?:standalone/)?profile.pgo -ldflags="-w `).FindAllString(string(dockerfile), -1)), "the final images have nothing to link with")
	dir := buildContext(t)
	list := func(module string) ([]byte, error) {
		command := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		command.Dir, command.Env = filepath.Join(dir, module), append(os.Environ(), "CGO_ENABLED=0")
		return command.CombinedOutput()
	}
	for _, module := range []string{".", "standalone"} {
		output, err := list(module)
		require.NoError(t, err, "%s", output)
	}
	require.NoFileExists(t, filepath.Join(dir, "e2e", "go.mod"), "the rest stays out")
	for _, needed := range []string{"api/openapi.yaml", "core/timer/spec.go", "engine"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, needed)))
	}
	for _, module := range []string{".", "standalone"} {
		_, err := list(module)
		require.Error(t, err, "what is missing is seen")
	}
}

// buildContext is a copy of the checkout's build context.
func buildContext(t *testing.T) (dir string) {
	t.Helper()
	file, err := os.Open("../../.dockerignore")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	patterns, err := ignorefile.ReadAll(file)
	require.NoError(t, err)
	matcher, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, filepath.WalkDir(checkout, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, _ := filepath.Rel(checkout, path)
		ignored, err := matcher.MatchesOrParentMatches(relative)
		switch {
		case err != nil:
			return err
		case ignored && entry.IsDir():
			return fs.SkipDir
		case ignored:
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(dir, relative), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, relative), text, 0o644)
	}))
	return dir
}
