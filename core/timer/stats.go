package timer

import "github.com/wakecall/wakecall/core/wire"

// Stats are how many timers there are.
type Stats struct {
	CountedAt wire.Instant `json:"counted_at"`
	// Timers are those of the business type that was asked for, or of all.
	Timers StatusCounts `json:"timers"`
	// BusinessTypes are those that have a policy, or the one that was asked for.
	BusinessTypes []TypeStats `json:"business_types"`
}

// TypeStats are how many timers of a business type there are.
type TypeStats struct {
	BusinessType string       `json:"business_type"`
	Timers       StatusCounts `json:"timers"`
}

// StatusCounts are how many timers there are of each status.
type StatusCounts struct {
	Scheduled  int `json:"scheduled"`
	Paused     int `json:"paused"`
	Delivering int `json:"delivering"`
	Delivered  int `json:"delivered"`
	Failed     int `json:"failed"`
	Expired    int `json:"expired"`
	Cancelled  int `json:"cancelled"`
}
