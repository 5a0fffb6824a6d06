package delivery

import "github.com/wakecall/wakecall/core/wire"

// Waiting is what holds up an attempt, or other work that has begun.
type Waiting string

// The closed list of what is waited for.
const (
	// WaitsForEmergency: somebody has paused the callbacks of the type, or all of them.
	WaitsForEmergency Waiting = "emergency"
	// WaitsForPause: the policy of the type is paused.
	WaitsForPause Waiting = "pause"
	// WaitsForBackPressure: the receiver has asked for patience with its whole type.
	WaitsForBackPressure Waiting = "back_pressure"
	// WaitsForRetryAfter: the receiver has asked for patience with this timer.
	WaitsForRetryAfter Waiting = "retry_after"
	// WaitsForLimit: the callbacks_per_second of the type are used up.
	WaitsForLimit Waiting = "limit"
	// WaitsForInFlight: as many attempts are under way as the policy lets.
	WaitsForInFlight Waiting = "in_flight"
	// WaitsForPolicy: nobody says whom to call, or the policy cannot be read.
	WaitsForPolicy Waiting = "policy"
	// WaitsForReceiver: no receiver of the type is connected that has room.
	WaitsForReceiver Waiting = "receiver"
	// WaitsForAck: the receiver has accepted it, and is to say what became of it.
	WaitsForAck Waiting = "ack"
	// WaitsForTurn: for a place at a worker; other work has those that its type may have.
	WaitsForTurn Waiting = "turn"
	// WaitsForWorker: no worker has taken it.
	WaitsForWorker Waiting = "worker"
)

// Waitings lists everything that is waited for.
func Waitings() []Waiting {
	return []Waiting{
		WaitsForEmergency, WaitsForPause, WaitsForBackPressure, WaitsForRetryAfter, WaitsForLimit, WaitsForInFlight,
		WaitsForPolicy, WaitsForReceiver, WaitsForAck, WaitsForTurn, WaitsForWorker,
	}
}

// Who makes an attempt wait, where it is nobody who has a name.
const (
	HeldByReceiver = "receiver"
	HeldByPolicy   = "policy"
)

// Wait is what an attempt waits for that could else be made, or that was accepted.
type Wait struct {
	WaitsFor Waiting `json:"waits_for,omitzero"`
	// WaitsUntil is when that ends at the latest, as far as it is known; zero where nobody
	// can tell.
	WaitsUntil wire.Instant `json:"waits_until,omitzero"`
	// WaitsSince is since when it holds, for the whole type where it does.
	WaitsSince wire.Instant `json:"waits_since,omitzero"`
	// WaitsBy is who has it wait: the name of the caller who paused, receiver, or policy.
	WaitsBy string `json:"waits_by,omitzero"`
	// WaitsNote is what the caller who paused gave as the reason.
	WaitsNote string `json:"waits_note,omitzero"`
}
