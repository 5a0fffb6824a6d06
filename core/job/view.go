package job

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// View is a bulk job as it stands, as the API shows it. What an edit changes may be secret, and
// is left out.
type View struct {
	ID        string    `json:"id"`
	Operation Operation `json:"operation"`
	Status    Status    `json:"status"`
	// CancelRequested reports whether it was told to stop, and no worker has heard of it yet.
	// Lists leave it out.
	CancelRequested bool             `json:"cancel_requested,omitzero"`
	WaitsFor        delivery.Waiting `json:"waits_for,omitzero"`
	Tally
	Filter     timer.Filter  `json:"filter"`
	Shift      wire.Duration `json:"shift,omitzero"`
	PerSecond  float64       `json:"per_second"`
	DryRun     bool          `json:"dry_run"`
	StartedAt  wire.Instant  `json:"started_at"`
	FinishedAt wire.Instant  `json:"finished_at,omitzero"`
	Links      timer.Links   `json:"links"`
}

// Ended reports whether the job is over.
func (v View) Ended() bool { return v.Status != "" && v.Status != Running }
