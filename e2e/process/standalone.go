package process

import (
	"fmt"
	"maps"
	"testing"

	"github.com/wakecall/wakecall/e2e/loopback"
)

// Standalone is a standalone Wakecall: a data directory and addresses that outlive its
// processes.
type Standalone struct {
	API
	// Dir is the data directory.
	Dir string
	// Env is added to the environment of later processes.
	Env map[string]string
	// Files is how many files later processes may open; 0 for as many as this one.
	Files int
	addr  map[string]string
}

// NewStandalone returns one that is not running yet.
func NewStandalone(t testing.TB) *Standalone {
	s := &Standalone{Dir: t.TempDir(), Env: map[string]string{}, addr: map[string]string{
		"WAKECALL_HTTP_ADDR": loopback.Addr(), "WAKECALL_TEMPORAL_ADDR": loopback.Addr(), "WAKECALL_UI_ADDR": loopback.Addr(),
	}}
	s.API = API{T: t, URL: "http://" + s.addr["WAKECALL_HTTP_ADDR"]}
	return s
}

// Addr is one of the deployment's addresses, by the variable that sets it.
func (s *Standalone) Addr(variable string) string { return s.addr[variable] }

// Start runs it until it is ready.
func (s *Standalone) Start() *Process { s.T.Helper(); return Start(s.T, s.command()) }

// Launch runs it without a wait.
func (s *Standalone) Launch() *Process { s.T.Helper(); return Launch(s.T, s.command()) }

// Run runs another command of the deployment's program. The deployment may be running.
func (s *Standalone) Run(args ...string) *Process {
	s.T.Helper()
	c := s.command()
	c.Args, c.Ready = append(c.Args, args...), ""
	return Launch(s.T, c)
}

func (s *Standalone) command() Command {
	env := map[string]string{"WAKECALL_DATA_DIR": s.Dir, "WAKECALL_LOG_LEVEL": "error"}
	maps.Copy(env, s.addr)
	maps.Copy(env, s.Env)
	c := Command{Path: StandaloneBinary(s.T), Env: env, Ready: s.URL + "/readyz"}
	if s.Files > 0 { // Go raises the soft limit to the hard one
		c.Path, c.Args = "/bin/sh", []string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, s.Files), c.Path}
	}
	return c
}
