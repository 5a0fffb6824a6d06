package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/require"
	uiversion "github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/headers"

	"github.com/wakecall/wakecall/deploy"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/internal/config"
)

func composed(t *testing.T) *types.Project {
	t.Helper()
	file, _ := process.Settings(t)
	project, err := process.Compose(t.Context(), process.ComposeFile(), file)
	require.NoError(t, err)
	return project
}

// altered is the compose file with one text replaced, beside the real one so
// that its paths stay right.
func altered(t *testing.T, from, to string) string {
	t.Helper()
	text, err := os.ReadFile(process.ComposeFile())
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	file := filepath.Join(t.TempDir(), "docker-compose.yml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
	return file
}

func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	project := composed(t)
	require.ElementsMatch(t, []string{"postgres", "schema", "temporal", "namespace", "ui", "api", "worker"}, project.ServiceNames())
	file, _ := process.Settings(t)
	for name, broken := range map[string]string{
		"a key nobody knows":     altered(t, "    shm_size: 256m", "    shmm_size: 256m"),
		"a value of no meaning":  altered(t, "condition: service_healthy", "condition: service_happy"),
		"a service nobody knows": altered(t, "schema: {condition:", "scheme: {condition:"),
		"a volume nobody knows":  altered(t, "[postgres:/var", "[postgresql:/var"),
	} {
		_, err := process.Compose(t.Context(), broken, file)
		require.Error(t, err, name)
	}
}

func TestComposeAsksForItsSecrets(t *testing.T) {
	t.Parallel()
	file, _ := process.Settings(t)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		require.Greater(t, len(value), 32, name)
		without := filepath.Join(t.TempDir(), ".env")
		require.NoError(t, os.WriteFile(without, []byte(strings.Replace(string(text), line, "", 1)), 0o600))
		_, err := process.Compose(t.Context(), process.ComposeFile(), without)
		require.ErrorContains(t, err, name, "a start without it must be refused")
		require.ErrorContains(t, err, "deploy/env.sh", "and say what to do")
	}
	raw, err := os.ReadFile(process.ComposeFile())
	require.NoError(t, err)
	secret := regexp.MustCompile(`(?m)^\s+\w*(?:PASSWORD|PWD|SECRET|KEYS?): *(.*)$`)
	found := secret.FindAllStringSubmatch(string(raw), -1)
	require.Len(t, found, 5)
	for _, match := range found {
		require.Regexp(t, `^\$\{\w+:\?.+\}$`, match[1], "no secret stands in the file")
	}
}

func TestSettingsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	file, key := process.Settings(t)
	require.Len(t, key, 64)
	stat, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), stat.Mode().Perm())
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(before), key, "only its digest is kept")
	require.NotContains(t, execute(t, "/bin/sh", "../deploy/env.sh", file), "API key")
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	other, otherKey := process.Settings(t)
	fresh, err := os.ReadFile(other)
	require.NoError(t, err)
	require.NotEqual(t, key, otherKey)
	for line := range strings.Lines(string(before)) {
		require.NotContains(t, string(fresh), line, "every value is random")
	}
}

func TestComposeRoles(t *testing.T) {
	t.Parallel()
	project := composed(t)
	api, worker := project.Services["api"], project.Services["worker"]
	require.Equal(t, types.ShellCommand{"api"}, api.Command)
	require.Equal(t, types.ShellCommand{"worker"}, worker.Command)
	require.Equal(t, api.Image, worker.Image)
	require.Equal(t, api.Build, worker.Build)
	for _, name := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "WAKECALL_SECRET_KEY"} {
		require.Equal(t, api.Environment[name], worker.Environment[name], name)
	}
	stop, err := config.Load() // the defaults
	require.NoError(t, err)
	require.Greater(t, time.Duration(*worker.StopGracePeriod), stop.StopTimeout, "the worker may finish its attempts")
}

func TestComposeSettingsAreKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		known[field.Tag.Get("env")] = true
	}
	require.True(t, known["WAKECALL_SECRET_KEY"])
	checked := 0
	for _, service := range composed(t).Services {
		for name := range service.Environment {
			if strings.HasPrefix(name, "WAKECALL_") {
				require.True(t, known[name], "%s sets %s, which nobody reads", service.Name, name)
				checked++
			}
		}
	}
	require.Greater(t, checked, 6)
}

func TestComposePublishesOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	published := 0
	for _, service := range composed(t).Services {
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s publishes %s", service.Name, port.Published)
			published++
		}
		require.NotEqual(t, "host", service.NetworkMode)
	}
	require.Equal(t, 3, published)
}

// pinned is an image with a version that does not move.
var pinned = regexp.MustCompile(`^[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$`)

func TestComposeImagesArePinned(t *testing.T) {
	t.Parallel()
	for _, unpinned := range []string{"postgres", "postgres:latest", "postgres:17", "temporalio/server:main"} {
		require.NotRegexp(t, pinned, unpinned)
	}
	for _, service := range composed(t).Services {
		if service.Build == nil {
			require.Regexp(t, pinned, service.Image, service.Name)
		}
	}
	services := composed(t).Services
	require.Equal(t, "temporalio/server:"+headers.ServerVersion, services["temporal"].Image, "what the tests run on")
	for _, job := range []string{"schema", "namespace"} {
		require.Equal(t, "temporalio/admin-tools:"+headers.ServerVersion, services[job].Image)
	}
	require.Equal(t, "temporalio/ui:"+uiversion.UIVersion, services["ui"].Image)
}

func TestComposeMountsAreThere(t *testing.T) {
	t.Parallel()
	mounts := 0
	for _, service := range composed(t).Services {
		for _, volume := range service.Volumes {
			if volume.Type == types.VolumeTypeBind {
				require.FileExists(t, volume.Source)
				require.True(t, volume.ReadOnly)
				mounts++
			}
		}
	}
	require.Equal(t, 4, mounts)
	temporal := composed(t).Services["temporal"]
	require.Equal(t, "dynamicconfig.yaml", filepath.Base(temporal.Volumes[0].Source))
	require.Equal(t, temporal.Volumes[0].Target, *temporal.Environment["DYNAMIC_CONFIG_FILE_PATH"])
	mounted, err := os.ReadFile(temporal.Volumes[0].Source)
	require.NoError(t, err)
	require.Equal(t, string(deploy.DynamicConfig), string(mounted), "one tuning for the embedded engine and for production")
}

func TestDynamicConfigIsKnownToTemporal(t *testing.T) {
	t.Parallel()
	complaints := func(text string) []error {
		loaded := dynamicconfig.LoadYamlFile([]byte(text))
		return append(loaded.Errors, loaded.Warnings...)
	}
	require.Empty(t, complaints(string(deploy.DynamicConfig)))
	require.NotEmpty(t, complaints("history.noSuchKey:\n  - value: 1\n"), "an unknown key")
	require.NotEmpty(t, complaints("history.timerTaskBatchSize:\n  - value: many\n"), "a value of the wrong type")
	require.NotEmpty(t, complaints("history.timerTaskBatchSize:\n  - valeu: 1\n"), "an unknown member")
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	text := string(raw)
	module, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(string(module))[1]
	require.Contains(t, text, "FROM golang:"+version+"-alpine AS build", "the compiler that the tests ran with")
	stages := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	require.Len(t, stages, 3)
	for _, stage := range stages[:2] {
		require.Regexp(t, pinned, stage[1])
	}
	require.Equal(t, "scratch", stages[2][1])
	final := text[strings.Index(text, "FROM scratch"):]
	require.Contains(t, final, "\nUSER 65532:65532\n")
	require.Contains(t, final, "ca-certificates.crt")
	ignored, err := os.ReadFile("../.dockerignore")
	require.NoError(t, err)
	for _, secret := range []string{".env", ".git", "data"} {
		require.Contains(t, strings.Fields(string(ignored)), secret)
	}
}

// The image is built from what .dockerignore leaves, without cgo.
func TestImageContextSuffices(t *testing.T) {
	t.Parallel()
	dockerfile, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(dockerfile), "CGO_ENABLED=0 go build", "the final image has nothing to link with")
	dir := buildContext(t)
	list := func() ([]byte, error) {
		command := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		command.Dir, command.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		return command.CombinedOutput()
	}
	output, err := list()
	require.NoError(t, err, "%s", output)
	require.NoFileExists(t, filepath.Join(dir, "e2e", "go.mod"), "the rest stays out")
	for _, needed := range []string{"api/openapi.yaml", "timer/spec.go", "engine"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, needed)))
	}
	_, err = list()
	require.Error(t, err, "what is missing is seen")
}

// buildContext is a copy of what docker would send of the checkout.
func buildContext(t *testing.T) (dir string) {
	t.Helper()
	file, err := os.Open("../.dockerignore")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	patterns, err := ignorefile.ReadAll(file)
	require.NoError(t, err)
	matcher, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, _ := filepath.Rel("..", path)
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
