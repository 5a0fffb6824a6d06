package process

import (
	"strings"

	"github.com/wakecall/wakecall/e2e/loopback"
)

// Cluster is a Temporal spread over processes, as it would be over machines.
type Cluster struct {
	// Members are its processes, by service. There are two of history, which has the shards.
	Members  map[string]*Process
	programs map[string]Command
}

// SecondHistory is the name of the second history process.
const SecondHistory = "history 2"

// Spread replaces the one process of Temporal by a cluster.
func (p *Production) Spread() *Cluster {
	p.T.Helper()
	p.Temporal.Stop()
	c := &Cluster{Members: map[string]*Process{}, programs: map[string]Command{}}
	for _, service := range []string{"frontend", "history", "matching", "worker"} {
		c.programs[service] = p.member(service)
	}
	for _, port := range []string{"HISTORY_GRPC_PORT", "HISTORY_MEMBERSHIP_PORT"} {
		p.ports[port] = loopback.Port(loopback.Addr())
	}
	c.programs[SecondHistory] = p.member("history")
	for name, program := range c.programs {
		c.Members[name] = Launch(p.T, program)
	}
	for _, member := range c.Members {
		member.AwaitReady()
	}
	return c
}

// Revive runs an ended member again.
func (c *Cluster) Revive(name string) {
	old := c.Members[name]
	old.t.Helper()
	c.Members[name] = Start(old.t, c.programs[name])
}

// member is the program of one service of Temporal.
func (p *Production) member(service string) Command {
	c := p.program("temporal")
	c.Args = append(c.Args, "--service", service)
	if c.Ready = "tcp://" + loopback.Host() + ":" + c.Env[strings.ToUpper(service)+"_GRPC_PORT"]; service == "worker" {
		c.Ready = "" // it does not listen
	}
	return c
}
