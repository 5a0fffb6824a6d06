package health

import "github.com/wakecall/wakecall/core/wire"

// Role is what a process of an installation does.
type Role string

// The closed list of roles.
const (
	// Gateway answers the API.
	Gateway Role = "gateway"
	// Worker rings.
	Worker Role = "worker"
	// Node does both.
	Node Role = "node"
)

// Roles are all roles.
func Roles() []Role { return []Role{Gateway, Worker, Node} }

// Life is the state of a process, by its signs of life.
type Life string

// The closed list of states, gravest first.
const (
	// Silent: it has given no sign for so long that it has died, stands still, or is cut off.
	Silent Life = "silent"
	// Stopping: it ends what it has begun.
	Stopping Life = "stopping"
	Alive    Life = "alive"
)

// Lives are all states, gravest first.
func Lives() []Life { return []Life{Silent, Stopping, Alive} }

// About describes a process. The process itself sends it, with its signs of life.
type About struct {
	Role Role `json:"role"`
	// Version is the version of the program; "" if it is not sent.
	Version string `json:"version,omitzero"`
	// Host is the name of its machine.
	Host string `json:"host,omitzero"`
	// StartedAt is when it started, by its own clock.
	StartedAt wire.Instant `json:"started_at,omitzero"`
	// Preloaded counts the timers that wait in its memory; nil if it is not sent.
	Preloaded *int `json:"preloaded,omitempty"`
	// InFlight counts the messages to receivers that it is sending; nil if it is not sent.
	InFlight *int `json:"in_flight,omitempty"`
}

// Process is one process of an installation.
type Process struct {
	// ID is the identity of the process, which Temporal shows too.
	ID    string `json:"id"`
	State Life   `json:"state"`
	// LastSeen is when it gave its last sign of life.
	LastSeen wire.Instant `json:"last_seen"`
	About
}

// Processes are all processes of an installation that give signs of life, gravest first.
type Processes struct {
	Processes []Process `json:"processes"`
	// Gateway is the id of the process that answers.
	Gateway string `json:"gateway"`
	// Note says why processes may be missing; "" if none is.
	Note string `json:"note,omitzero"`
}

// Whole reports whether every process that lives is listed.
func (p Processes) Whole() bool { return p.Note == "" }
