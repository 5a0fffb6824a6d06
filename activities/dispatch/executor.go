package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/internal/turns"
)

// Store keeps pages of items, and the published state of dispatches and their shards.
type Store interface {
	// ReadPage reads a stored page by its id. A missing page is [wire.NotFound].
	ReadPage(ctx context.Context, id string) (dispatch.Page, error)
	// WritePage stores a page, and replaces one with the same id. life is how long it is
	// kept at most.
	WritePage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error
	// AddPage is WritePage for a page that replaces none. Where there is one, it fails with
	// [wire.AlreadyExists].
	AddPage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error
	// Read returns the memo of a dispatch, at most a moment old and not read before since. A
	// dispatch that has ended is [wire.NotFound].
	Read(ctx context.Context, key wire.Key, since time.Time) (dispatch.Memo, error)
	// Heartbeat is a heartbeat of an executor, and stores its progress. It fails with [wire.NotFound]
	// if another executor has taken its place, and with [wire.Overtaken] if it must stop.
	Heartbeat(ctx context.Context, token []byte, state dispatch.State) error
	// ReportProgress sends a dispatch its progress, for readers of its workflow.
	ReportProgress(ctx context.Context, key wire.Key) error
	// CleanUp deletes pages. It calls beat between its steps.
	CleanUp(ctx context.Context, sweep dispatch.Cleanup, beat func()) error
}

// Sender sends messages.
type Sender interface {
	Send(ctx context.Context, m send.Message) send.Outcome
}

// Policies returns the policy of a business type, its secrets opened.
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
	HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error
	// Claim claims a part of the type's callbacks_per_second for a dispatch.
	Claim(ctx context.Context, businessType string, claim policy.Claim) error
}

// Emergencies reports whether an operator has paused the callbacks of a business type.
type Emergencies interface {
	Paused(ctx context.Context, businessType string) (bool, error)
}

// Opener opens values that were sealed before they reached Temporal.
type Opener interface {
	Open(sealed string) (string, error)
}

// The outcomes of items, in metrics.
const (
	OutcomeDone   = "done"
	OutcomeRetry  = "retry"
	OutcomeFailed = "failed"
)

// Observer counts items by their outcome.
type Observer interface {
	// Dispatched counts items of a business type by their outcome.
	Dispatched(businessType, outcome string, items int)
	// Dispatching reports the rate that a shard should send at, and how late it is; zeros
	// once it sends no more.
	Dispatching(key wire.Key, shard int, perSecond float64, lag time.Duration)
}

// Config configures an [Executor].
type Config struct {
	Store    Store
	Policies Policies
	// Emergencies reports which business types are paused.
	Emergencies Emergencies
	Opener      Opener
	Sender      Sender
	Observer    Observer
}

// Executor sends the items of shards. It is safe for concurrent use.
type Executor struct {
	Config

	mu sync.Mutex
	// inFlight counts the callbacks under way of each business type.
	inFlight map[string]int
	// sessions are the runs of this process, by [sessionID].
	sessions map[string]*session
	// turns queue for the places of shards.
	turns *turns.Turns
}

// New returns an Executor.
func New(config Config) *Executor {
	return &Executor{
		Config: config, inFlight: map[string]int{}, sessions: map[string]*session{},
		turns: turns.New(tuning.DispatchSlots, tuning.LongTurn),
	}
}

// acquireSlot takes a place among the callbacks of a business type, up to limit.
func (e *Executor) acquireSlot(businessType string, limit int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inFlight[businessType] >= limit {
		return false
	}
	e.inFlight[businessType]++
	return true
}

func (e *Executor) releaseSlot(businessType string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inFlight[businessType]--; e.inFlight[businessType] == 0 {
		delete(e.inFlight, businessType)
	}
}
