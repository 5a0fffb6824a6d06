package deploy_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/docker/go-units"
	"github.com/stretchr/testify/require"
	uiversion "github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/headers"
	"go.yaml.in/yaml/v3"

	"github.com/wakecall/wakecall/deploy"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/quota/shared"
	"github.com/wakecall/wakecall/internal/tuning"
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
	require.ElementsMatch(t, []string{
		"postgres", "schema", "temporal", "namespace", "ui", "wakecall", "api", "worker",
		"redis", "rabbitmq", "tls", "prometheus", "grafana", "backup", "restore",
	}, project.ServiceNames())
	profiles := map[string][]string{
		"api": {"roles"}, "worker": {"roles"}, "redis": {"redis"}, "rabbitmq": {"rabbitmq"}, "tls": {"tls"}, "prometheus": {"monitoring"}, "grafana": {"monitoring"}, "backup": {"backup"}, "restore": {"backup"},
	}
	for name, service := range project.Services {
		require.Equal(t, profiles[name], service.Profiles, name)
	}
	file, _ := process.Settings(t)
	for name, broken := range map[string]string{
		"a key nobody knows":     altered(t, "    shm_size: 256m", "    shmm_size: 256m"),
		"a value of no meaning":  altered(t, "condition: service_healthy", "condition: service_happy"),
		"a service nobody knows": altered(t, "schema: {condition:", "scheme: {condition:"),
		"a volume nobody knows":  altered(t, "[postgres:/var", "[postgresql:/var"),
		"a secret nobody has":    altered(t, "secrets: [secret_key, brokers]", "secrets: [secret_kee]"),
	} {
		_, err := process.Compose(t.Context(), broken, file)
		require.Error(t, err, name)
	}
}

// Every secret is a file, and the containers get its path. None is in an environment, where
// `docker inspect` and every child process would show it.
func TestComposeKeepsSecretsInFiles(t *testing.T) {
	t.Parallel()
	project := composed(t)
	told := map[string]bool{}
	for _, service := range project.Services {
		mounted := map[string]bool{}
		for _, secret := range service.Secrets {
			mounted[secret.Source] = true
		}
		for name, value := range service.Environment {
			file, ok := process.SecretFile(project, *value)
			require.False(t, !ok && secretName.MatchString(name) && *value != "", "%s: %s is no file", service.Name, name)
			if ok {
				text, err := os.ReadFile(file)
				require.NoError(t, err, "deploy/env.sh makes it")
				require.Greater(t, len(text), 32, name)
				require.True(t, mounted[filepath.Base(file)], "%s is not given %s", service.Name, *value)
				told[filepath.Base(file)] = true
			}
		}
	}
	require.Len(t, told, 6)
	require.Regexp(t, secretName, "WAKECALL_SECRET_KEY", "the oracle knows a secret's name")
	require.Regexp(t, secretName, "POSTGRES_PWD_FILE")
	_, err := process.Compose(t.Context(), process.ComposeFile(), "/dev/null")
	require.ErrorContains(t, err, "deploy/env.sh", "without them it says what to do")
}

var secretName = regexp.MustCompile(`PASSWORD|PWD|SECRET|API_KEYS|REDIS_URL`)

func TestComposeRoles(t *testing.T) {
	t.Parallel()
	project := composed(t)
	stop, err := config.Load() // the defaults
	require.NoError(t, err)
	both, api, worker := project.Services["wakecall"], project.Services["api"], project.Services["worker"]
	for command, service := range map[string]types.ServiceConfig{"serve": both, "api": api, "worker": worker} {
		require.Equal(t, types.ShellCommand{command}, service.Command)
		require.Equal(t, both.Image, service.Image)
		require.Equal(t, both.Build, service.Build)
		for _, name := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "WAKECALL_SECRET_KEY_FILE", "WAKECALL_CALLBACK_ALLOW", "WAKECALL_BROKERS", "SSL_CERT_DIR"} {
			require.Equal(t, both.Environment[name], service.Environment[name], name)
		}
		require.Greater(t, time.Duration(*service.StopGracePeriod), stop.StopTimeout, "it may finish its attempts")
		if command == "api" {
			continue
		}
		for name := range worker.Environment {
			require.Contains(t, both.Environment, name, "it is a worker as well")
		}
		for _, volume := range worker.Volumes {
			require.Contains(t, both.Volumes, volume)
		}
	}
	for name := range api.Environment {
		require.Contains(t, both.Environment, name, "it is a gateway as well")
	}
	// Workers call receivers, and gateways the identity provider.
	require.Equal(t, "/etc/wakecall/ca", *both.Environment["SSL_CERT_DIR"])
	authorities := 0
	for name, service := range project.Services {
		if service.Image != both.Image {
			continue
		}
		// Every role opens the files that secrets/brokers names when it starts.
		targets := map[string]string{}
		for _, volume := range service.Volumes {
			targets[volume.Target] = volume.Source
		}
		require.Equal(t, filepath.Join(filepath.Dir(process.ComposeFile()), "deploy", "ca"), targets["/etc/wakecall/ca"], name)
		authorities++
	}
	require.Equal(t, 3, authorities)
	for _, gateway := range []types.ServiceConfig{both, api} { // where the profile tls finds it
		require.Equal(t, []string{"gateway"}, gateway.Networks["default"].Aliases)
	}
}

// knownSettings are the variables that Wakecall reads.
func knownSettings() map[string]bool {
	known := map[string]bool{}
	for _, settings := range []reflect.Type{reflect.TypeFor[config.Config](), reflect.TypeFor[shared.Settings]()} {
		for field := range settings.Fields() {
			known[field.Tag.Get("env")] = true
			if field.Tag.Get("secret") == "true" {
				known[field.Tag.Get("env")+"_FILE"] = true
			}
		}
	}
	return known
}

func TestComposeSettingsAreKnown(t *testing.T) {
	t.Parallel()
	known := knownSettings()
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
			if service.Name == "tls" {
				continue
			}
			require.Equal(t, "127.0.0.1", port.HostIP, "%s publishes %s", service.Name, port.Published)
			published++
		}
		require.NotEqual(t, "host", service.NetworkMode)
	}
	require.Equal(t, 7, published)
}

// pinned is an image with a fixed version, and a digest if there is one.
var pinned = regexp.MustCompile(`^[a-z/-]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?(@sha256:[0-9a-f]{64})?$`)

// tagged is an image without its digest.
func tagged(image string) string {
	image, _, _ = strings.Cut(image, "@")
	return image
}

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
	require.Equal(t, "temporalio/server:"+headers.ServerVersion, tagged(services["temporal"].Image), "what the tests run on")
	for _, job := range []string{"schema", "namespace"} {
		require.Equal(t, "temporalio/admin-tools:"+headers.ServerVersion, tagged(services[job].Image))
	}
	require.Equal(t, "temporalio/ui:"+uiversion.UIVersion, tagged(services["ui"].Image))
}

func TestComposeMountsAreThere(t *testing.T) {
	t.Parallel()
	mounts := 0
	for _, service := range composed(t).Services {
		for _, volume := range service.Volumes {
			if volume.Type != types.VolumeTypeBind || volume.Target == "/backups" {
				continue
			}
			_, err := os.Stat(volume.Source)
			require.NoError(t, err, "%s", service.Name)
			require.True(t, volume.ReadOnly, "%s", volume.Target)
			mounts++
		}
	}
	require.Equal(t, 18, mounts)
	temporal := composed(t).Services["temporal"]
	require.Equal(t, "dynamicconfig.yaml", filepath.Base(temporal.Volumes[0].Source))
	require.Equal(t, temporal.Volumes[0].Target, *temporal.Environment["DYNAMIC_CONFIG_FILE_PATH"])
	mounted, err := os.ReadFile(temporal.Volumes[0].Source)
	require.NoError(t, err)
	require.Equal(t, string(deploy.DynamicConfig), string(mounted), "one tuning for the embedded engine and for production")
}

// unitLimit is the limit of Go's runtime in a unit of 2 GB.
var unitLimit = regexp.MustCompile(`(?m)^MemoryMax=2G\nEnvironment=GOMEMLIMIT=(\S+)$`)

// What a worker may hold has room in its memory: at the limit the collector runs without a pause.
func TestWorkersHaveRoomForWhatTheyHold(t *testing.T) {
	t.Parallel()
	const needed = (tuning.WorkflowSlots*tuning.HeldMemory + tuning.WorkerMemory) / tuning.HeldPart
	type role struct {
		GoMemoryLimit string `yaml:"goMemoryLimit"`
	}
	var chart struct{ Serve, Worker role }
	text, err := os.ReadFile(filepath.Join(checkout, "deploy", "helm", "wakecall", "values.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &chart))
	unit, err := os.ReadFile(filepath.Join(checkout, "deploy", "wakecall.service"))
	require.NoError(t, err)
	limited := unitLimit.FindStringSubmatch(string(unit))
	require.NotNil(t, limited, "a unit has a limit of Go's runtime below that of its memory")
	services := composed(t).Services
	for name, limit := range map[string]string{
		"a node of the compose file": *services["wakecall"].Environment["GOMEMLIMIT"], "a worker of the compose file": *services["worker"].Environment["GOMEMLIMIT"],
		"a node of the chart": chart.Serve.GoMemoryLimit, "a worker of the chart": chart.Worker.GoMemoryLimit,
		"a node as a service": limited[1],
	} {
		size, err := units.RAMInBytes(strings.TrimSuffix(limit, "iB"))
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, float64(size), needed, name)
	}
	require.Less(t, 1000.0*units.MiB, needed, "so much was not enough for a herd of 10,000")
}

// No container has more of the machine than its limits, nor an unneeded right. Services that
// run permanently have a health check and restart.
func TestComposeIsClosed(t *testing.T) {
	t.Parallel()
	jobs := map[string]bool{"schema": true, "namespace": true, "backup": true, "restore": true}
	for name, service := range composed(t).Services {
		require.NotNil(t, service.Deploy, name)
		limits := service.Deploy.Resources.Limits
		require.NotNil(t, limits, name)
		require.Positive(t, float32(limits.NanoCPUs), name)
		require.LessOrEqual(t, float32(limits.NanoCPUs), float32(2), "%s: a machine with fewer would refuse it", name)
		require.Positive(t, int64(limits.MemoryBytes), name)
		require.Positive(t, limits.Pids, name)
		if limit := service.Environment["GOMEMLIMIT"]; limit != nil {
			size, err := units.RAMInBytes(strings.TrimSuffix(*limit, "iB"))
			require.NoError(t, err)
			require.Less(t, size, int64(limits.MemoryBytes), "%s: Go collects before it is killed", name)
		}
		require.True(t, service.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, service.CapDrop, name)
		require.Equal(t, []string{"no-new-privileges:true"}, service.SecurityOpt, name)
		require.False(t, service.Privileged, name)
		require.NotContains(t, service.CapAdd, "ALL")
		require.Equal(t, "5", service.Logging.Options["max-file"], "%s: logs end", name)
		if !jobs[name] && name != "tls" {
			require.NotNil(t, service.HealthCheck, name)
			require.Equal(t, "unless-stopped", service.Restart, name)
		}
	}
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
