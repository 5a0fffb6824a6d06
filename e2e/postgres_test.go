package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// production is what docker-compose.yml describes, without the containers: the
// same programs with the same settings and scripts, each a process of its own,
// on addresses of this test's own.
type production struct {
	process.API
	t        *testing.T
	services types.Services
	postgres *process.Postgres
	temporal *process.Process
	// instead holds the settings whose values differ outside of containers.
	instead map[string]map[string]string
	// ports are what a Temporal in a container of its own has for itself.
	ports map[string]string
}

func newProduction(t *testing.T) *production {
	file, key := settings(t)
	project, err := compose(t.Context(), composeFile, file)
	require.NoError(t, err)
	p := &production{t: t, services: project.Services}
	p.API = process.API{T: t, Key: key}
	database := p.services["postgres"].Environment
	p.postgres = process.NewPostgres(t, *database["POSTGRES_USER"], *database["POSTGRES_PASSWORD"])
	p.ports = ports()
	p.instead = addresses(p.postgres.Addr, "127.0.0.1:"+p.ports["FRONTEND_GRPC_PORT"])
	p.instead["temporal"]["DYNAMIC_CONFIG_FILE_PATH"] = p.services["temporal"].Volumes[0].Source
	p.URL = "http://" + p.instead["api"]["WAKECALL_HTTP_ADDR"]
	for range 2 {
		require.NoError(t, p.job("schema"), "it may be repeated")
	}
	p.temporal = p.start("temporal")[0]
	require.Eventually(t, func() bool { return p.job("namespace") == nil }, time.Minute, 100*time.Millisecond,
		"Temporal needs a moment, and the job is run again until then")
	require.NoError(t, p.job("namespace"), "it may be repeated")
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
func (p *production) environment(service string) map[string]string {
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

// job runs the script of a service.
func (p *production) job(service string) error {
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
func (p *production) program(service string) process.Command {
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

// start runs the programs of services at the same time, and waits for all.
func (p *production) start(services ...string) (started []*process.Process) {
	p.t.Helper()
	for _, service := range services {
		started = append(started, process.Launch(p.t, p.program(service)))
	}
	for _, process := range started {
		process.AwaitReady()
	}
	return started
}

func TestProduction(t *testing.T) {
	t.Parallel()
	p, r, kind := newProduction(t), receiver.New(t), "order-close"
	roles := p.start("api", "worker")
	api, worker := roles[0], roles[1]
	signing := secret()
	p.Policy(kind, house.JSON{
		"callback": house.JSON{"url": r.URL}, "signing_secrets": []string{signing},
		"retry": house.JSON{"steps": []string{"100ms", "100ms", "100ms"}, "jitter": 0},
	})
	book := func(id, delay string) house.Timer {
		return p.Add(house.JSON{"business_type": kind, "business_id": id, "delay": delay, "payload": house.JSON{"id": id}})
	}
	path := func(id string) string { return "/v1/timers/" + kind + "/" + id }

	t.Run("asks for a key", func(t *testing.T) {
		stranger := process.API{T: t, URL: p.URL}
		for method, path := range map[string]string{"GET": path("1"), "POST": "/v1/timers"} {
			status, _, err := stranger.Try(method, path, house.JSON{})
			require.NoError(t, err)
			require.Equal(t, http.StatusUnauthorized, status)
		}
	})
	t.Run("rings, signed", func(t *testing.T) {
		booked := book("rings", "1s")
		call := r.Await(t, "rings", 1)[0]
		require.False(t, call.At.Before(booked.DueAt))
		require.JSONEq(t, `{"id":"rings"}`, string(call.Body))
		verifier, err := webhooks.NewWebhook(signing)
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(call.Body, call.Header))
		p.Await(kind+"/rings", "delivered")
	})
	t.Run("retries", func(t *testing.T) {
		p.Add(house.JSON{
			"business_type": kind, "business_id": "retried", "delay": "0s",
			"callback": house.JSON{"url": r.On("/twice", receiver.FailFirst(2))},
		})
		require.Equal(t, 3, p.Await(kind+"/retried", "delivered").Attempts)
		ids := map[string]bool{}
		for _, call := range r.Calls("retried") {
			ids[call.Header.Get("webhook-id")] = true
		}
		require.Len(t, ids, 1)
	})
	t.Run("moves", func(t *testing.T) {
		book("earlier", "24h")
		moved := p.Do("PATCH", path("earlier"), house.JSON{"delay": "1s"}, http.StatusOK)
		call := r.Await(t, "earlier", 1)[0]
		require.False(t, call.At.Before(moved.DueAt))
		book("later", "24h")
		p.Do("PATCH", path("later"), house.JSON{"delay": "48h"}, http.StatusOK)
		require.Equal(t, 2, p.Get(kind+"/later").Revision)
	})
	t.Run("cancels", func(t *testing.T) {
		book("cancelled", "24h")
		require.Equal(t, "cancelled", p.Do("DELETE", path("cancelled"), nil, http.StatusOK).Status)
		require.Equal(t, "cancelled", p.Do("DELETE", path("cancelled"), nil, http.StatusOK).Status)
	})
	t.Run("lists", func(t *testing.T) {
		p.AwaitList(kind, map[string]string{
			"rings": "delivered", "retried": "delivered", "earlier": "delivered", "later": "scheduled", "cancelled": "cancelled",
		})
	})
	t.Run("takes timers without a worker", func(t *testing.T) {
		require.Zero(t, worker.Stop())
		book("posted", "1s")
		p.Do("PUT", path("put"), house.JSON{"delay": "1s", "payload": house.JSON{"id": "put"}}, http.StatusCreated)
		p.Do("PUT", path("later")+"?wait=100ms", house.JSON{"delay": "1s", "payload": house.JSON{"id": "put"}}, http.StatusAccepted)
		worker = p.start("worker")[0]
		for _, id := range []string{"posted", "put", "later"} {
			r.Await(t, id, 1)
			p.Await(kind+"/"+id, "delivered")
			require.Len(t, r.Calls(id), 1)
		}
	})
	t.Run("rings after its worker was killed", func(t *testing.T) {
		book("bereft", "2s")
		hanging := p.Add(house.JSON{
			"business_type": kind, "business_id": "hanging", "delay": "0s",
			"callback": house.JSON{"url": r.On("/hang", hangOnce(1))},
		})
		r.Await(t, "hanging", 1)
		worker.Kill()
		worker = p.start("worker")[0]
		p.Await(kind+"/bereft", "delivered")
		p.Await(kind+"/hanging", "delivered")
		require.Len(t, r.Calls("bereft"), 1)
		calls := r.Calls("hanging")
		require.Len(t, calls, 2)
		require.Equal(t, hanging.WebhookID, calls[1].Header.Get("webhook-id"))
	})
	t.Run("restarts in any order", func(t *testing.T) {
		book("patient", "3s")
		require.Zero(t, api.Stop())
		require.Zero(t, worker.Stop())
		worker = p.start("worker")[0]
		api = p.start("api")[0]
		p.Await(kind+"/patient", "delivered")
		api.Kill()
		book := house.JSON{"business_type": kind, "business_id": "next", "delay": "0s"}
		_, _, err := p.Try("POST", "/v1/timers", book)
		require.Error(t, err, "nobody listens")
		api = p.start("api")[0]
		p.Add(book)
		p.Await(kind+"/next", "delivered")
	})
	t.Run("outlives Temporal and PostgreSQL", func(t *testing.T) {
		book("surviving", "5s")
		p.temporal.Kill()
		p.postgres.Kill()
		p.postgres.Start()
		p.temporal = p.start("temporal")[0]
		r.Await(t, "surviving", 1)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			status, answer, err := p.Try("GET", path("surviving"), nil)
			require.NoError(c, err)
			require.Equal(c, http.StatusOK, status)
			require.Contains(c, string(answer), `"delivered"`)
		}, time.Minute, 100*time.Millisecond, "the answer is recorded once Temporal is up")
		require.False(t, api.Ended())
		require.False(t, worker.Ended())
	})
}
