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

// Store keeps pages of items, and what dispatches and their shards say of themselves.
type Store interface {
	// ReadPage reads a stored page, by its id. One that is not there is [wire.NotFound].
	ReadPage(ctx context.Context, id string) (dispatch.Page, error)
	// WritePage stores a page, in place of one that has its id. life is how long it is
	// kept at most.
	WritePage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error
	// Read is what a dispatch says of itself, a moment ago at most. One that has ended is
	// [wire.NotFound].
	Read(ctx context.Context, key wire.Key) (dispatch.Memo, error)
	// Beat is a sign of life of an executor, which stores how far it is. It fails with
	// [wire.NotFound] where another one has taken its place, and with [wire.Overtaken]
	// where it shall stop.
	Beat(ctx context.Context, token []byte, state dispatch.State) error
	// ReportProgress tells a dispatch how far it is, for those who look at its workflow.
	ReportProgress(ctx context.Context, key wire.Key) error
	// Sweep clears pages away. beat is called while it does.
	Sweep(ctx context.Context, sweep dispatch.Sweep, beat func()) error
}

// Sender sends messages.
type Sender interface {
	Send(ctx context.Context, m send.Message) send.Outcome
}

// Policies tells the policy of a business type, its secrets opened.
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
	HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error
	// Claim tells what a dispatch wants of the callbacks_per_second of its type.
	Claim(ctx context.Context, businessType string, claim policy.Claim) error
}

// Emergencies tell whether somebody has paused the callbacks of a business type.
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
	// Dispatching tells the rate that a shard is to send at, and how late it is; zeros where
	// it sends no more.
	Dispatching(key wire.Key, shard int, perSecond float64, lag time.Duration)
}

// Config is what an [Executor] needs.
type Config struct {
	Store    Store
	Policies Policies
	// Emergencies tell which business types somebody has paused.
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
	// turns are those at its places.
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
