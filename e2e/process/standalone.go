package process

import (
	"maps"
	"testing"

	"github.com/wakecall/wakecall/e2e/house"
)

// House is a standalone Wakecall: a data directory and addresses that outlive
// its processes.
type House struct {
	API
	// Dir is the data directory.
	Dir string
	// Env is added to the environment of the processes to come.
	Env  map[string]string
	addr map[string]string
}

// NewHouse returns a house that is not running yet.
func NewHouse(t testing.TB) *House {
	h := &House{Dir: t.TempDir(), Env: map[string]string{}, addr: map[string]string{
		"WAKECALL_HTTP_ADDR": house.Addr(), "WAKECALL_TEMPORAL_ADDR": house.Addr(), "WAKECALL_UI_ADDR": house.Addr(),
	}}
	h.API = API{T: t, URL: "http://" + h.addr["WAKECALL_HTTP_ADDR"]}
	return h
}

// Addr is one of the house's addresses, by the variable that sets it.
func (h *House) Addr(variable string) string { return h.addr[variable] }

// Start runs the house until it is ready.
func (h *House) Start() *Process { h.T.Helper(); return Start(h.T, h.command()) }

// Launch runs the house and waits for nothing.
func (h *House) Launch() *Process { h.T.Helper(); return Launch(h.T, h.command()) }

// Run runs another command of the house's program, which may be running.
func (h *House) Run(args ...string) *Process {
	h.T.Helper()
	c := h.command()
	c.Args, c.Ready = args, ""
	return Launch(h.T, c)
}

func (h *House) command() Command {
	env := map[string]string{"WAKECALL_DATA_DIR": h.Dir, "WAKECALL_LOG_LEVEL": "error"}
	maps.Copy(env, h.addr)
	maps.Copy(env, h.Env)
	return Command{Path: Standalone(h.T), Env: env, Ready: h.URL + "/readyz"}
}
