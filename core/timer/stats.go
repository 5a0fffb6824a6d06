package timer

import "github.com/wakecall/wakecall/core/wire"

// Stats counts timers.
type Stats struct {
	CountedAt wire.Instant `json:"counted_at"`
	// Timers counts the requested business type, or all of them.
	Timers StatusCounts `json:"timers"`
	// BusinessTypes has the types with a policy, or the requested one.
	BusinessTypes []TypeStats `json:"business_types"`
}

// TypeStats counts the timers of a business type.
type TypeStats struct {
	BusinessType string       `json:"business_type"`
	Timers       StatusCounts `json:"timers"`
}

// StatusCounts counts timers by status.
type StatusCounts struct {
	Scheduled  int `json:"scheduled"`
	Paused     int `json:"paused"`
	Delivering int `json:"delivering"`
	Delivered  int `json:"delivered"`
	Failed     int `json:"failed"`
	Expired    int `json:"expired"`
	Cancelled  int `json:"cancelled"`
}
