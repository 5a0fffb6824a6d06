package process

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
)

// Production is the deployment of docker-compose.yml without the containers: the same programs
// with the same settings and scripts, each a separate process, on addresses of this test.
type Production struct {
	API
	Postgres *Postgres
	Temporal *Process

	project  *types.Project
	services types.Services
	// instead holds the settings whose values differ outside of containers.
	instead map[string]map[string]string
	// ports are the ports of a Temporal in its own container.
	ports map[string]string
	// config is Temporal's configuration file, if it is not the one in its image.
	config string
}

// Via returns the address by which a service reaches another one that listens on addr.
type Via func(from, to, addr string) string

// Direct puts nothing between services.
func Direct(_, _, addr string) string { return addr }

// NewProduction runs PostgreSQL, with more settings (name=value) if given, and Temporal. It
// does not start the roles.
func NewProduction(t testing.TB, via Via, postgres ...string) *Production {
	t.Helper()
	p := arrange(t, via, postgres)
	p.raise()
	return p
}

// NewUntuned does the same with an untuned Temporal: with all of its indexes, and without
// the settings in deploy.
func NewUntuned(t testing.TB, postgres ...string) *Production {
	t.Helper()
	p := arrange(t, Direct, postgres)
	dir, schema := t.TempDir(), &p.services["schema"].Volumes[0]
	script, err := os.ReadFile(schema.Source)
	require.NoError(t, err)
	schema.Source = filepath.Join(dir, "schema.sh")
	p.instead["temporal"]["DYNAMIC_CONFIG_FILE_PATH"] = filepath.Join(dir, "dynamicconfig.yaml")
	for name, content := range map[string]string{
		"schema.sh": string(script), "visibility.postgresql.sql": "SELECT 1;", "dynamicconfig.yaml": "{}",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	p.raise()
	return p
}

// arrange runs PostgreSQL, and prepares the programs.
func arrange(t testing.TB, via Via, postgres []string) *Production {
	t.Helper()
	file, key := Settings(t)
	project, err := Compose(t.Context(), ComposeFile(), file)
	require.NoError(t, err)
	p := &Production{project: project, services: project.Services}
	p.API = API{T: t, Key: key}
	database := p.services["postgres"].Environment
	password := p.secret(*database["POSTGRES_PASSWORD_FILE"])
	p.Postgres = NewPostgres(t, *database["POSTGRES_USER"], password, append(p.postgresSettings(), postgres...)...)
	p.ports = ports()
	p.instead = addresses(p.Postgres.Addr, p.TemporalAddr(), via)
	p.instead["temporal"]["DYNAMIC_CONFIG_FILE_PATH"] = p.services["temporal"].Volumes[0].Source
	p.URL = "http://" + via("client", "api", p.instead["api"]["WAKECALL_HTTP_ADDR"])
	return p
}

// raise makes the schema and the namespace, and runs Temporal.
func (p *Production) raise() {
	p.T.Helper()
	require.NoError(p.T, p.Job("schema"))
	p.Temporal = p.Start("temporal")[0]
	require.Eventually(p.T, func() bool { return p.Job("namespace") == nil }, Patience, time.Second/2,
		"Temporal needs a moment, and the job is run again until then")
}

// postgresSettings are the settings of the compose file's `postgres -c name=value …`.
func (p *Production) postgresSettings() (settings []string) {
	command := p.services["postgres"].Command
	require.Equal(p.T, "postgres", command[0])
	for option := range slices.Chunk(command[1:], 2) {
		require.Equal(p.T, "-c", option[0])
		name, value, _ := strings.Cut(option[1], "=")
		settings = append(settings, name+"="+p.mounted("postgres", value))
	}
	return settings
}

// mounted is a readable copy of the file that a service sees as path. It returns any other
// path unchanged.
func (p *Production) mounted(service, path string) string {
	for _, volume := range p.services[service].Volumes {
		if volume.Target != path {
			continue
		}
		text, err := os.ReadFile(volume.Source)
		require.NoError(p.T, err)
		dir, err := os.MkdirTemp("", "wakecall-mounted-")
		require.NoError(p.T, err)
		p.T.Cleanup(func() { require.NoError(p.T, os.RemoveAll(dir)) })
		require.NoError(p.T, os.Chmod(dir, 0o755))
		file := filepath.Join(dir, filepath.Base(path))
		require.NoError(p.T, os.WriteFile(file, text, 0o644))
		return file
	}
	return path
}

// secret is the content of a container's secret file.
func (p *Production) secret(path string) string {
	file, ok := SecretFile(p.project, path)
	require.True(p.T, ok, path)
	text, err := os.ReadFile(file)
	require.NoError(p.T, err)
	return strings.TrimSpace(string(text))
}

// TemporalAddr is where Temporal's frontend listens.
func (p *Production) TemporalAddr() string {
	return loopback.Host() + ":" + p.ports["FRONTEND_GRPC_PORT"]
}

func ports() map[string]string {
	ports := map[string]string{"FRONTEND_HTTP_PORT": loopback.Port(loopback.Addr())}
	for _, service := range []string{"FRONTEND", "HISTORY", "MATCHING", "WORKER"} {
		ports[service+"_GRPC_PORT"] = loopback.Port(loopback.Addr())
		ports[service+"_MEMBERSHIP_PORT"] = loopback.Port(loopback.Addr())
	}
	return ports
}

// addresses are the settings with these addresses.
func addresses(postgres, temporal string, via Via) map[string]map[string]string {
	gateway, ofWorker := loopback.Addr(), via("worker", "temporal", temporal) // one link: a node is a worker too
	return map[string]map[string]string{
		"schema": {"SQL_HOST": loopback.Host(), "SQL_PORT": loopback.Port(postgres)},
		"temporal": {
			"POSTGRES_SEEDS": loopback.Host(), "DB_PORT": loopback.Port(via("temporal", "postgres", postgres)), "BIND_ON_IP": loopback.Host(),
			"PROMETHEUS_ENDPOINT": loopback.Addr(),
		},
		"namespace": {"TEMPORAL_ADDRESS": temporal},
		"api": {
			"TEMPORAL_ADDRESS": via("api", "temporal", temporal), "WAKECALL_HTTP_ADDR": gateway,
			"WAKECALL_METRICS_ADDR": loopback.Addr(), "WAKECALL_CALLBACK_ALLOW": "127.0.0.0/8",
		},
		"wakecall": {
			"TEMPORAL_ADDRESS": ofWorker, "WAKECALL_HTTP_ADDR": gateway,
			"WAKECALL_METRICS_ADDR": loopback.Addr(), "WAKECALL_CALLBACK_ALLOW": "127.0.0.0/8",
		},
		"backup": {"PGHOST": loopback.Host(), "PGPORT": loopback.Port(postgres)},
		"worker": {
			"TEMPORAL_ADDRESS":      ofWorker,
			"WAKECALL_METRICS_ADDR": loopback.Addr(), "WAKECALL_CALLBACK_ALLOW": "127.0.0.0/8",
		},
	}
}

// environment is the environment of a service.
func (p *Production) environment(service string) map[string]string {
	env := map[string]string{}
	for name, value := range p.services[service].Environment {
		env[name] = *value
		if file, ok := SecretFile(p.project, *value); ok {
			env[name] = file
		}
	}
	for name, value := range p.instead[service] {
		require.Contains(p.T, env, name, "%s must be told", service)
		env[name] = value
	}
	if service == "temporal" {
		maps.Copy(env, p.ports)
		env["POSTGRES_PWD"] = p.secret(*p.services[service].Environment["POSTGRES_PWD_FILE"]) // what its script does
		if p.config != "" {
			env["TEMPORAL_SERVER_CONFIG_FILE_PATH"] = p.config
		}
	}
	return env
}

// Job runs the script of a service, with settings (name=value) instead of paths in a container.
func (p *Production) Job(service string, instead ...string) error {
	tools := p.T.TempDir()
	for name, path := range map[string]string{"temporal-sql-tool": SQLTool(p.T), "temporal": Temporal(p.T)} {
		require.NoError(p.T, os.Symlink(path, filepath.Join(tools, name)))
	}
	s := p.services[service]
	script := slices.IndexFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
		return slices.Equal(s.Entrypoint, []string{"sh", v.Target})
	})
	require.GreaterOrEqual(p.T, script, 0, "%s runs a script that is mounted", service)
	command := exec.CommandContext(p.T.Context(), "sh", s.Volumes[script].Source)
	command.Env = []string{"HOME=" + tools, "PATH=" + tools + ":" + p.Postgres.bin + ":" + os.Getenv("PATH")}
	for name, value := range p.environment(service) {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Env = append(command.Env, instead...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", service, err, output)
	}
	return nil
}

// program is the program of a service.
func (p *Production) program(service string) Command {
	c := Command{Path: WakecallBinary(p.T), Args: p.services[service].Command, Env: p.environment(service)}
	switch service {
	case "temporal": // as its image's entry point does at its end
		c.Path, c.Args = TemporalServer(p.T), []string{"start"}
		c.Ready = "tcp://" + p.TemporalAddr()
	case "api", "wakecall":
		c.Ready = "http://" + c.Env["WAKECALL_HTTP_ADDR"] + "/livez"
	case "worker":
		c.Ready = "http://" + c.Env["WAKECALL_METRICS_ADDR"] + "/livez"
	}
	return c
}

// Start runs the programs of services at the same time, and waits for all.
func (p *Production) Start(services ...string) (started []*Process) {
	p.T.Helper()
	for _, service := range services {
		started = append(started, Launch(p.T, p.program(service)))
	}
	for _, process := range started {
		process.AwaitReady()
	}
	return started
}

// Revive runs the program of a service. It runs it again each time it ends before it is
// ready, as an orchestrator does.
func (p *Production) Revive(service string) *Process {
	p.T.Helper()
	for {
		if process := Launch(p.T, p.program(service)); process.BecomesReady() {
			return process
		}
	}
}

// Beside runs one more program of a role, on a separate address. It has a direct link to Temporal:
// what breaks that of the first one does not reach it.
func (p *Production) Beside(role string) *Process {
	p.T.Helper()
	return p.BesideOf(WakecallBinary(p.T), role)
}

// BesideOf is [Production.Beside] with the program of another build.
func (p *Production) BesideOf(program, role string) *Process {
	p.T.Helper()
	listens := map[string]string{"api": "WAKECALL_HTTP_ADDR", "wakecall": "WAKECALL_HTTP_ADDR", "worker": "WAKECALL_METRICS_ADDR"}[role]
	c, addr := p.program(role), loopback.Addr()
	c.Path = program
	c.Env["TEMPORAL_ADDRESS"] = p.TemporalAddr()
	c.Env["WAKECALL_METRICS_ADDR"] = loopback.Addr()
	c.Env[listens] = addr
	c.Ready = "http://" + addr + "/livez"
	return Start(p.T, c)
}
