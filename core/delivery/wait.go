package delivery

import "github.com/wakecall/wakecall/core/wire"

// Waiting is the reason for a wait of an attempt, or of other work in progress.
type Waiting string

// The closed list of reasons.
const (
	// WaitsForEmergency: a caller has paused the callbacks of the type, or all callbacks.
	WaitsForEmergency Waiting = "emergency"
	// WaitsForPause: the policy of the type is paused.
	WaitsForPause Waiting = "pause"
	// WaitsForBackPressure: the receiver asked for a pause of its whole type.
	WaitsForBackPressure Waiting = "back_pressure"
	// WaitsForRetryAfter: the receiver asked for a pause of this timer.
	WaitsForRetryAfter Waiting = "retry_after"
	// WaitsForLimit: the callbacks_per_second of the type are used up.
	WaitsForLimit Waiting = "limit"
	// WaitsForInFlight: the policy allows no more attempts at once.
	WaitsForInFlight Waiting = "in_flight"
	// WaitsForPolicy: no receiver is configured, or the policy cannot be read.
	WaitsForPolicy Waiting = "policy"
	// WaitsForReceiver: no connected receiver of the type has room.
	WaitsForReceiver Waiting = "receiver"
	// WaitsForAck: the receiver has accepted it, and has yet to acknowledge it.
	WaitsForAck Waiting = "ack"
	// WaitsForTurn: its type has used up its places at the worker, and others have work.
	WaitsForTurn Waiting = "turn"
	// WaitsForWorker: no worker has taken it.
	WaitsForWorker Waiting = "worker"
)

// Waitings lists every reason.
func Waitings() []Waiting {
	return []Waiting{
		WaitsForEmergency, WaitsForPause, WaitsForBackPressure, WaitsForRetryAfter, WaitsForLimit, WaitsForInFlight,
		WaitsForPolicy, WaitsForReceiver, WaitsForAck, WaitsForTurn, WaitsForWorker,
	}
}

// The holders of a wait that are no caller.
const (
	HeldByReceiver = "receiver"
	HeldByPolicy   = "policy"
)

// Wait describes why an attempt waits, or why an accepted attempt is not settled.
type Wait struct {
	WaitsFor Waiting `json:"waits_for,omitzero"`
	// WaitsUntil is the latest end of the wait; zero if unknown.
	WaitsUntil wire.Instant `json:"waits_until,omitzero"`
	// WaitsSince is when the wait began, for the whole type if it concerns the type.
	WaitsSince wire.Instant `json:"waits_since,omitzero"`
	// WaitsBy is the holder: the name of the caller who paused, receiver, or policy.
	WaitsBy string `json:"waits_by,omitzero"`
	// WaitsNote is the caller's reason for the pause.
	WaitsNote string `json:"waits_note,omitzero"`
}
