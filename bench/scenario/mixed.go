package scenario

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
)

// A timer of the mixed scenario is due between soon and latest after its booking. A change
// comes at any time from the booking until a little after the due time.
const (
	soon   = 500 * time.Millisecond
	latest = 5 * time.Second
	after  = 200 * time.Millisecond
	// Of ten timers, two are moved and two are cancelled.
	ofTen, moved, cancelled = 10, 2, 2
)

// mixed books timers at a fixed rate while earlier ones ring, and moves and cancels some.
// The answer to a change decides the expected ring.
func (r *Runner) mixed(ctx context.Context, plan Plan) (Booking, error) {
	changer, can := r.subject.(subject.Changer)
	if !can {
		return Booking{Skipped: "its timers cannot be moved"}, nil
	}
	m := &mix{subject: r.subject, changer: changer}
	begin := time.Now()
	open(ctx, plan, func(ctx context.Context, i int, intended time.Time) {
		timer := subject.Timer{ID: id(plan, i), Due: intended.Add(between(soon, latest)).Truncate(time.Millisecond)}
		err := m.subject.Add(ctx, timer)
		m.log.recordAt(intended, err)
		if err != nil {
			m.file(&m.booking.Free, timer)
			return
		}
		m.change(ctx, i, timer)
	})
	m.booking.Calls = m.log.close(begin)
	return m.booking, ctx.Err()
}

func between(least, most time.Duration) time.Duration { return least + rand.N(most-least) }

// mix is the state of a mixed scenario.
type mix struct {
	subject subject.Subject
	changer subject.Changer
	log     ledger

	mu      sync.Mutex
	booking Booking
}

// change moves or cancels the i-th timer, or leaves it unchanged.
func (m *mix) change(ctx context.Context, i int, timer subject.Timer) {
	switch n := i % ofTen; {
	case n >= moved+cancelled || !until(ctx, someMoment(timer)):
		m.file(&m.booking.Expected, timer)
	case n < moved:
		then := timer
		then.Due = time.Now().Add(between(soon, latest)).Truncate(time.Millisecond)
		answer, err := m.changer.Move(ctx, then)
		if m.answered("move", answer, err); answer == subject.Done {
			m.file(&m.booking.Expected, then)
			return
		}
		m.unchanged(answer, timer)
	default:
		answer, err := m.changer.Cancel(ctx, timer.ID)
		if m.answered("cancel", answer, err); answer == subject.Done {
			m.file(&m.booking.Forbidden, timer)
			return
		}
		m.unchanged(answer, timer)
	}
}

// unchanged files a timer whose change came too late, or whose state is unknown.
func (m *mix) unchanged(answer subject.Answer, timer subject.Timer) {
	if answer == subject.TooLate {
		m.file(&m.booking.Expected, timer)
		return
	}
	m.file(&m.booking.Free, timer)
}

func (m *mix) answered(call string, answer subject.Answer, err error) {
	if err != nil {
		m.log.record(0, err)
		answer = "failed"
	}
	m.log.answered(call + " " + string(answer))
}

// someMoment is when a timer is changed.
func someMoment(timer subject.Timer) time.Time {
	return time.Now().Add(rand.N(max(time.Until(timer.Due), 0) + after))
}

func (m *mix) file(under *[]subject.Timer, timer subject.Timer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*under = append(*under, timer)
}
