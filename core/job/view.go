package job

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// View is a bulk job as the API shows it. It leaves out the content of an edit, which may be
// secret.
type View struct {
	ID        string    `json:"id"`
	Operation Operation `json:"operation"`
	Status    Status    `json:"status"`
	// CancelRequested reports whether a stop was requested and no worker has carried it out yet.
	// Lists leave it out.
	CancelRequested bool             `json:"cancel_requested,omitzero"`
	WaitsFor        delivery.Waiting `json:"waits_for,omitzero"`
	Tally
	Filter    timer.Filter  `json:"filter"`
	Shift     wire.Duration `json:"shift,omitzero"`
	PerSecond float64       `json:"per_second"`
	DryRun    bool          `json:"dry_run"`
	// Counted is the dry run whose timers the job works on.
	Counted    string       `json:"counted,omitzero"`
	StartedAt  wire.Instant `json:"started_at"`
	FinishedAt wire.Instant `json:"finished_at,omitzero"`
	Links      timer.Links  `json:"links"`
}

// Ended reports whether the job is over.
func (v View) Ended() bool { return v.Status != "" && v.Status != Running }
