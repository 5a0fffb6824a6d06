package dispatch

import (
	"context"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// job is one callback: items of a page that follow one another.
type job struct {
	page     *page
	from, to int
	settings *settings
}

func (j job) items() []dispatch.Item { return j.page.items[j.from:j.to] }

// adjust brings the pace in line with the plan, and reports whether anything may be sent.
func (s *stint) adjust(now time.Time) bool {
	plan := s.plan()
	place, active := plan.PlaceOf(s.shard.Number)
	rate := s.settings.policy.DispatchRate(s.settings.memo.Run, plan.PerSecond, now)
	if now.Before(s.heldTill) || plan.Paused || s.settings.paused {
		rate = 0
	}
	latest := s.settings.memo.Order.LatestAt
	if !active || rate <= 0 || now.After(s.lease) || (latest != nil && latest.Until(now) <= 0) {
		s.paced = false
		return false
	}
	pace := dispatch.Pace{
		Began: plan.Began.Time(), WarmUp: plan.WarmUp.D(), PerSecond: rate, Shard: place, Shards: len(plan.Active),
	}
	if s.paced && pace == s.pace {
		return true
	}
	from := now
	if s.fresh {
		from = s.resumeAt(pace, now)
	}
	s.pace, s.next, s.paced, s.fresh, s.overdue = pace, pace.From(from), true, false, now
	return true
}

// resumeAt is from when moments are used by an executor that begins. Another one had the
// shard until a moment ago, or it waited for its turn.
func (s *stint) resumeAt(pace dispatch.Pace, now time.Time) time.Time {
	each := time.Duration(float64(pace.Shards) / pace.PerSecond * float64(time.Second))
	last := s.state.Last.Time()
	switch {
	case s.state.Last == 0 && now.Sub(pace.Began) < each/4:
		return pace.Began
	case now.Sub(last) < max(tuning.DispatchGap, each+each/4):
		return last.Add(time.Millisecond)
	}
	return now
}

// late is how late an item may leave. What is later than that is not made up for: the
// moment has passed.
func (s *stint) late() time.Duration {
	each := time.Duration(float64(s.pace.Shards) / s.pace.PerSecond * float64(time.Second))
	return max(tuning.DispatchLate, each/4)
}

// send sends what is due, and returns when the next item is.
func (s *stint) send(ctx context.Context, now time.Time) (wake time.Time) {
	if s.awaitsOld() || !s.adjust(now) {
		return time.Time{}
	}
	size := 1
	if s.settings.memo.Order.Per == dispatch.PerPage {
		size = s.settings.memo.Order.PageSize
	}
	for {
		at := s.pace.Moment(s.next)
		behind := now.Sub(at)
		if behind < 0 {
			return at
		}
		if behind > s.late() && !at.Before(s.overdue) {
			s.next = s.pace.From(now.Add(-s.late()))
			s.missed(now)
			continue
		}
		p := s.pick()
		if p == nil || !s.admit(s.shard.BusinessType, s.settings.inFlight) {
			s.hinder(p != nil, now)
			return now.Add(tuning.DispatchFull)
		}
		from, to := p.take(size)
		s.next += int64(to - from)
		s.state.Last, s.state.LagMS = wire.At(at), max(s.state.LagMS, behind.Milliseconds())
		s.launch(ctx, job{page: p, from: from, to: to, settings: s.settings})
		sent(&s.state.Sent, to-from, now)
	}
}

// pick is the page whose item is next. The ladder has every second turn at most.
func (s *stint) pick() *page {
	first := func(pages []*page) *page {
		for _, p := range pages {
			if p.more() {
				return p
			}
		}
		return nil
	}
	fresh, again := first(s.main), first(s.ladder)
	s.turn = !s.turn
	if again != nil && (s.turn || fresh == nil) {
		return again
	}
	return fresh
}

// launch gives a job to a goroutine that waits for one, or to a new one.
func (s *stint) launch(ctx context.Context, j job) {
	s.calls++
	s.pending++
	s.state.InFlight += j.to - j.from
	select {
	case s.jobs <- j:
	default:
		go s.serve(ctx, j)
	}
}

// serve carries out jobs until the stint ends.
func (s *stint) serve(ctx context.Context, j job) {
	for more := true; more; j, more = <-s.jobs {
		message := s.message(j)
		outcome := s.Sender.Send(ctx, message)
		done := j
		s.events <- func() { s.pending--; s.ended(ctx, done, outcome) }
	}
}

// message is what leaves for a job.
func (s *stint) message(j job) send.Message {
	c := j.settings
	headers := make(map[string]string, len(c.callback.Headers)+6)
	maps.Copy(headers, c.callback.Headers)
	headers[send.HeaderBusinessType] = s.shard.BusinessType
	headers[send.HeaderDispatch], headers[send.HeaderDueAt] = s.shard.BusinessID, c.memo.DueAt.String()
	if s.shard.Occurrence > 0 {
		headers[send.HeaderOccurrence] = strconv.Itoa(s.shard.Occurrence)
	}
	m := send.Message{
		BusinessType: s.shard.BusinessType, Destination: c.callback.Destination, ContentType: timer.ContentTypeJSON, Headers: headers,
		Secrets: c.policy.Secrets(time.Now()), Timeout: c.callback.Timeout.D(), TLS: c.tls, Declare: c.declare,
	}
	first := j.items()[0]
	headers[send.HeaderAttempt] = strconv.Itoa(first.Attempts + 1)
	if c.memo.Order.Per == dispatch.PerPage {
		headers[send.HeaderBusinessID] = s.shard.BusinessID
		m.ID, m.Body, m.Answer = s.pageMessage(j)
		return m
	}
	headers[send.HeaderBusinessID] = first.ID
	m.ID, m.Body = s.shard.ItemID(first), first.Payload
	if len(m.Body) == 0 {
		m.ContentType = ""
	}
	return m
}

// ended takes what came of a job.
func (s *stint) ended(ctx context.Context, j job, outcome send.Outcome) {
	s.calls--
	s.release(s.shard.BusinessType)
	s.state.InFlight -= j.to - j.from
	if ctx.Err() != nil {
		return // nobody hears of it any more
	}
	if outcome.NoVerdict {
		s.again(ctx, j, outcome)
		return
	}
	s.state.Callbacks++
	verdict := delivery.Judge(outcome.Answer)
	s.heed(ctx, j, verdict, outcome)
	if verdict.Decision == delivery.DecisionDelivered {
		s.delivered(j, outcome)
		return
	}
	s.refused(j, outcome)
}

// heed makes a receiver's wish for patience hold for all shards.
func (s *stint) heed(ctx context.Context, j job, verdict delivery.Verdict, outcome send.Outcome) {
	asked := j.settings.patience(verdict, outcome.Status)
	if asked <= 0 {
		return
	}
	now := wire.At(outcome.Ended)
	wish := policy.BackPressure{Since: now, Until: now.Add(asked), Status: outcome.Status}
	if until := wish.Until.Time(); until.After(s.heldTill) {
		s.heldTill = until
	}
	if s.holding || !j.settings.speaks {
		return
	}
	s.holding = true
	s.beside(func() func() {
		_ = s.Policies.HoldBack(ctx, s.shard.BusinessType, wish) // the next answer will repeat it
		return func() { s.holding = false; s.readAt = time.Time{} }
	})
}

// done counts an item that was taken.
func (s *stint) done(p *page, i int) {
	s.state.Done++
	s.deal(p, i)
}

// failed puts an item that was not taken on the ladder, or gives it up.
func (s *stint) failed(j job, i int, verdict delivery.Verdict, failure *delivery.Failure) {
	item := j.page.items[i]
	item.Attempts++
	item.Failure = failure
	made := j.page.Attempts + 1
	asked := min(verdict.RetryAfter, j.settings.policy.Patience())
	wait, more := j.settings.retry.NextWait(made, asked, rand.Float64())
	if verdict.Decision == delivery.DecisionStop || !more {
		made = givenUp
	}
	s.put(made, buffered{j.page, i, item}, wait)
}

// closePage drops a page all of whose items were dealt with.
func (s *stint) closePage(p *page) {
	if p.left > 0 {
		return
	}
	for _, pages := range []*[]*page{&s.main, &s.ladder} {
		for i, open := range *pages {
			if open == p {
				*pages = append((*pages)[:i], (*pages)[i+1:]...)
				return
			}
		}
	}
}
