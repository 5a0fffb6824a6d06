package processes

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
)

// noteUnlisted is the answer of a process whose own sign is not listed.
const noteUnlisted = "Temporal does not list the sign of life of the gateway that answers, so other processes may be missing too. " +
	"After a restart of Temporal the signs come back within a second; if they do not, set frontend.WorkerHeartbeatsEnabled to true."

// Processes lists the processes of a namespace, and gives the signs of one that has no worker. It is
// safe for concurrent use.
type Processes struct {
	Config
	signs failover.Signs

	mu sync.Mutex
	// doubted are the last signs that are too old or too new, by process.
	doubted map[string]doubt
}

// Config is what a [Processes] needs to know of its own process.
type Config struct {
	// ID is the identity of the process.
	ID string
	// About describes it.
	About func() health.About
}

// doubt is a sign whose time alone does not tell whether its process lives.
type doubt struct {
	// at is the time of the sign, and since when it was listed first here.
	at, since time.Time
}

// New returns the processes of a namespace.
func New(k *kernel.Kernel, config Config) *Processes {
	return &Processes{Config: config, signs: failover.NewSigns(k), doubted: map[string]doubt{}}
}

// GiveSigns gives a sign a second until ctx is done, and removes the last one then. Signs say that the
// process stops once leaving is done. Only a process without a worker needs it: a worker gives signs
// of its own. A sign that does not arrive is missing in the list, which says so.
func (p *Processes) GiveSigns(ctx, leaving context.Context) {
	next := time.NewTicker(tuning.SignEvery)
	defer next.Stop()
	for {
		_ = p.signs.Give(ctx, failover.Sign{Worker: p.ID, At: time.Now(), Stopping: leaving.Err() != nil, About: p.About()})
		select {
		case <-next.C:
		case <-ctx.Done():
			_ = p.signs.End(context.WithoutCancel(ctx), p.ID) // it lapses by itself
			return
		}
	}
}

// List returns the processes that give signs of life, the gravest first. The one that answers is
// always among them. The error is [wire.Unavailable].
func (p *Processes) List(ctx context.Context) (health.Processes, error) {
	signs, err := p.listed(ctx)
	if err == nil && p.doubts(signs, time.Now()) {
		// The clock of a process may be wrong, and Temporal may have been away. A second look
		// shows whether it goes on to give signs.
		select {
		case <-time.After(tuning.SignAgain):
			signs, err = p.listed(ctx)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return health.Processes{}, kernel.Translate(err)
	}
	return p.judged(signs, time.Now()), nil
}

// listed are the signs of all processes, without those of checks. A server that knows no signs lists none.
func (p *Processes) listed(ctx context.Context) ([]failover.Sign, error) {
	signs, err := p.signs.ListAll(ctx)
	if errtype.Is[*serviceerror.Unimplemented](err) {
		err = nil
	}
	return slices.DeleteFunc(signs, func(s failover.Sign) bool { return s.About.Role == failover.Checking }), err
}

// doubtful reports whether the time of a sign does not tell that its process lives.
func doubtful(sign failover.Sign, now time.Time) bool {
	return now.Sub(sign.At).Abs() > tuning.SignDoubted
}

// doubts notes the signs that are doubtful, and reports whether one of them may still change.
func (p *Processes) doubts(signs []failover.Sign, now time.Time) (undecided bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.doubted
	p.doubted = map[string]doubt{}
	for _, sign := range signs {
		if sign.Worker == p.ID || !doubtful(sign, now) {
			continue
		}
		d, known := before[sign.Worker]
		if !known || !d.at.Equal(sign.At) {
			d = doubt{sign.At, now}
		}
		p.doubted[sign.Worker] = d
		undecided = undecided || now.Sub(d.since) < tuning.SignAgain
	}
	return undecided
}

// judged is the answer for the signs of the last look.
func (p *Processes) judged(signs []failover.Sign, now time.Time) health.Processes {
	answer := health.Processes{Gateway: p.ID, Note: noteUnlisted}
	own := health.Process{ID: p.ID, State: health.Alive, LastSeen: wire.At(now), About: p.About()}
	answer.Processes = append(answer.Processes, own)
	for _, sign := range signs {
		if sign.Worker == p.ID {
			answer.Note = ""
			continue
		}
		answer.Processes = append(answer.Processes, p.judge(sign, now))
	}
	slices.SortFunc(answer.Processes, graver)
	return answer
}

// judge judges one process by its last sign.
func (p *Processes) judge(sign failover.Sign, now time.Time) health.Process {
	one := health.Process{ID: sign.Worker, State: health.Alive, LastSeen: min(wire.At(sign.At), wire.At(now)), About: sign.About}
	if sign.Stopping {
		one.State = health.Stopping
	}
	if !doubtful(sign, now) {
		return one
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch d, known := p.doubted[sign.Worker]; {
	case !known || !d.at.Equal(sign.At): // it gave another one meanwhile, by a clock that is wrong
		one.LastSeen = wire.At(now)
	case sign.At.After(d.since):
		one.State, one.LastSeen = health.Silent, wire.At(d.since)
	default:
		one.State = health.Silent
	}
	return one
}

// graver orders processes: those not seen for longest first, and those that live by their ids.
func graver(a, b health.Process) int {
	lives := health.Lives()
	bySeen := 0
	if a.State == health.Silent {
		bySeen = cmp.Compare(a.LastSeen, b.LastSeen)
	}
	return cmp.Or(cmp.Compare(slices.Index(lives, a.State), slices.Index(lives, b.State)), bySeen, cmp.Compare(a.ID, b.ID))
}
