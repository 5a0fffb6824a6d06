package production

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/process"
)

// Production is what docker-compose.yml describes, without the containers: the
// same programs with the same settings and scripts, each a process of its own,
// on addresses of this test's own.
type Production struct {
	process.API
	Postgres *process.Postgres
	Temporal *process.Process
	// TemporalAddr is where Temporal's frontend listens.
	TemporalAddr string

	t        testing.TB
	services types.Services
	// instead holds the settings whose values differ outside of containers.
	instead map[string]map[string]string
	// ports are what a Temporal in a container of its own has for itself.
	ports map[string]string
}

// New runs PostgreSQL, with more settings of its own (name=value), and Temporal
// on it. The roles are not started yet.
func New(t testing.TB, postgres ...string) *Production {
	t.Helper()
	file, key := Settings(t)
	project, err := Load(t.Context(), File, file)
	require.NoError(t, err)
	p := &Production{t: t, services: project.Services}
	p.API = process.API{T: t, Key: key}
	database := p.services["postgres"].Environment
	p.Postgres = process.NewPostgres(t, *database["POSTGRES_USER"], *database["POSTGRES_PASSWORD"], postgres...)
	p.ports = ports()
	p.TemporalAddr = "127.0.0.1:" + p.ports["FRONTEND_GRPC_PORT"]
	p.instead = addresses(p.Postgres.Addr, p.TemporalAddr)
	p.instead["temporal"]["DYNAMIC_CONFIG_FILE_PATH"] = p.services["temporal"].Volumes[0].Source
	p.URL = "http://" + p.instead["api"]["WAKECALL_HTTP_ADDR"]
	require.NoError(t, p.Job("schema"))
	p.Temporal = p.Start("temporal")[0]
	require.Eventually(t, func() bool { return p.Job("namespace") == nil }, time.Minute, 100*time.Millisecond,
		"Temporal needs a moment, and the job is run again until then")
	return p
}

func ports() map[string]string {
	ports := map[string]string{"FRONTEND_HTTP_PORT": house.Port(house.Addr())}
	for _, service := range []string{"FRONTEND", "HISTORY", "MATCHING", "WORKER"} {
		ports[service+"_GRPC_PORT"] = house.Port(house.Addr())
		ports[service+"_MEMBERSHIP_PORT"] = house.Port(house.Addr())
	}
	return ports
}

// addresses are the settings that name them.
func addresses(postgres, temporal string) map[string]map[string]string {
	return map[string]map[string]string{
		"schema":    {"SQL_HOST": "127.0.0.1", "SQL_PORT": house.Port(postgres)},
		"temporal":  {"POSTGRES_SEEDS": "127.0.0.1", "DB_PORT": house.Port(postgres), "BIND_ON_IP": "127.0.0.1"},
		"namespace": {"TEMPORAL_ADDRESS": temporal},
		"api":       {"TEMPORAL_ADDRESS": temporal, "WAKECALL_HTTP_ADDR": house.Addr()},
		"worker": {
			"TEMPORAL_ADDRESS": temporal, "WAKECALL_METRICS_ADDR": house.Addr(), "WAKECALL_CALLBACK_ALLOW": "127.0.0.0/8",
		},
	}
}

// environment is that of a service.
func (p *Production) environment(service string) map[string]string {
	env := map[string]string{}
	for name, value := range p.services[service].Environment {
		env[name] = *value
	}
	for name, value := range p.instead[service] {
		require.Contains(p.t, env, name, "%s must be told", service)
		env[name] = value
	}
	if service == "temporal" {
		maps.Copy(env, p.ports)
	}
	return env
}

// Job runs the script of a service.
func (p *Production) Job(service string) error {
	tools := p.t.TempDir()
	for name, path := range map[string]string{
		"temporal-sql-tool": process.SQLTool(p.t), "temporal": process.Temporal(p.t),
	} {
		require.NoError(p.t, os.Symlink(path, filepath.Join(tools, name)))
	}
	s := p.services[service]
	require.Equal(p.t, types.ShellCommand{"sh", s.Volumes[0].Target}, s.Entrypoint)
	command := exec.CommandContext(p.t.Context(), "sh", s.Volumes[0].Source)
	command.Env = []string{"HOME=" + tools, "PATH=" + tools + ":" + os.Getenv("PATH")}
	for name, value := range p.environment(service) {
		command.Env = append(command.Env, name+"="+value)
	}
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", service, err, output)
	}
	return nil
}

// program is what a service runs.
func (p *Production) program(service string) process.Command {
	c := process.Command{Path: process.Wakecall(p.t), Args: p.services[service].Command, Env: p.environment(service)}
	switch service {
	case "temporal": // what its image's entry point does at its end
		c.Path, c.Args = process.TemporalServer(p.t), []string{"start"}
		c.Ready = "tcp://" + p.instead["api"]["TEMPORAL_ADDRESS"]
	case "api":
		c.Ready = p.URL + "/livez"
	case "worker":
		c.Ready = "http://" + c.Env["WAKECALL_METRICS_ADDR"] + "/livez"
	}
	return c
}

// Start runs the programs of services at the same time, and waits for all.
func (p *Production) Start(services ...string) (started []*process.Process) {
	p.t.Helper()
	for _, service := range services {
		started = append(started, process.Launch(p.t, p.program(service)))
	}
	for _, process := range started {
		process.AwaitReady()
	}
	return started
}
