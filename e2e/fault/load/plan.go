package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wakecall/wakecall/e2e/fault/witness"
)

// Plan describes the load.
type Plan struct {
	Seed uint64
	// Type is the business type, which must have a policy.
	Type   string
	Timers int
	// Over is the time over which the adds are spread evenly.
	Over time.Duration
	// A timer is due between Lead and Lead plus Spread after its add; in a Herd
	// all are due at the same instant, Lead after the last add.
	Lead, Spread time.Duration
	Herd         bool
	// Hold is how long the receiver delays each answer.
	Hold time.Duration
	// Refuse is the share of the timers with one or two refused attempts. Move and Cancel
	// are the shares of moved and cancelled timers.
	Refuse, Move, Cancel float64
	// Race, when set, is the greatest distance of a move or cancel from the due time, before
	// or after. Otherwise it comes well before.
	Race time.Duration
	// Regret reports whether a cancel follows each move at once. Neither waits for its effect.
	Regret bool
}

// course is what happens to one timer.
type course struct {
	id     string
	add    time.Time
	due    time.Time
	orders witness.Orders
	// touch is when the timer is moved to a due time, or cancelled.
	touch  time.Time
	moveTo time.Time
	cancel bool
}

// course draws the course of the n-th timer. It depends only on the plan.
func (p Plan) course(n int, begin time.Time) course {
	random := rand.New(rand.NewPCG(p.Seed, uint64(n)))
	id := fmt.Sprintf("%d-%d", p.Seed, n)
	f := course{id: id, add: begin.Add(p.Over * time.Duration(n) / time.Duration(p.Timers))}
	f.due = f.add.Add(p.Lead + fraction(p.Spread, random.Float64()))
	if p.Herd {
		f.due = begin.Add(p.Over + p.Lead)
	}
	f.due = f.due.Truncate(time.Millisecond) // the API's precision
	f.orders = witness.Orders{Timer: id, Hold: p.Hold.Milliseconds()}
	if random.Float64() < p.Refuse {
		f.orders.Refuse = 1 + random.IntN(2)
	}
	share := random.Float64()
	if share >= p.Move+p.Cancel {
		return f
	}
	f.touch = f.add.Add(fraction(f.due.Sub(f.add), 0.2+random.Float64()/2))
	if p.Race > 0 {
		f.touch = f.due.Add(fraction(2*p.Race, random.Float64()) - p.Race)
	}
	if f.cancel = share >= p.Move; !f.cancel {
		f.moveTo = f.due.Add(time.Second + fraction(time.Second, random.Float64())).Truncate(time.Millisecond)
	}
	return f
}

func fraction(span time.Duration, of float64) time.Duration { return time.Duration(float64(span) * of) }
