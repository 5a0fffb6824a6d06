package dispatch

import (
	"context"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// sender sends the items of open pages at the moments of the pacer, and sorts them by their
// outcome.
type sender struct {
	*base
	pacer   *pacer
	source  *source
	retries *retries
	refresh *refresher
	jobs    chan job
	// ladderNext reports whether the ladder has the next turn, if it has an item.
	ladderNext bool
	// warnedAt is when the log last said that items could not be sent for lack of local
	// resources.
	warnedAt time.Time
	// holding reports whether a receiver's request is being passed to the policy.
	holding bool
}

// job is one callback: consecutive items of a page.
type job struct {
	page     *page
	from, to int
	settings *settings
}

func (j job) items() []dispatch.Item { return j.page.items[j.from:j.to] }

// send sends what is due, and returns when the next item is.
func (s *sender) send(ctx context.Context, now time.Time) (wake time.Time) {
	if s.awaitsOld() || !s.pacer.adjust(now) {
		return time.Time{}
	}
	size := 1
	if s.settings.memo.Order.Per == dispatch.PerPage {
		size = s.settings.memo.Order.PageSize
	}
	for {
		at, behind := s.pacer.moment(now)
		if behind < 0 {
			return at
		}
		p := s.pick()
		if p == nil || !s.acquire(s.settings.inFlight) {
			s.pacer.recordHindrance(p != nil, now)
			return now.Add(tuning.DispatchFull)
		}
		from, to := p.takeItems(size)
		s.pacer.next += int64(to - from)
		s.state.Last, s.state.LagMS = wire.At(at), max(s.state.LagMS, behind.Milliseconds())
		s.launch(ctx, job{page: p, from: from, to: to, settings: s.settings})
		count(&s.state.Sent, to-from, now)
	}
}

// awaitsOld reports whether nothing can be sent before an old page was read. The first
// moment is chosen when there is something to send: otherwise it would pass unused.
func (s *sender) awaitsOld() bool {
	return s.pacer.fresh && len(s.source.old)+len(s.retries.old) > 0 && len(s.main)+len(s.ladder) == 0
}

// pick is the page of the next item. The ladder has at most every second turn.
func (s *sender) pick() *page {
	first := func(pages []*page) *page {
		for _, p := range pages {
			if p.more() {
				return p
			}
		}
		return nil
	}
	fresh, again := first(s.main), first(s.ladder)
	s.ladderNext = !s.ladderNext
	if again != nil && (s.ladderNext || fresh == nil) {
		return again
	}
	return fresh
}

// launch gives a job to an idle goroutine, or to a new one.
func (s *sender) launch(ctx context.Context, j job) {
	s.pending++
	s.state.InFlight += j.to - j.from
	select {
	case s.jobs <- j:
	default:
		go s.serve(ctx, j)
	}
}

// serve carries out jobs until the run ends.
func (s *sender) serve(ctx context.Context, j job) {
	for more := true; more; j, more = <-s.jobs {
		outcome := s.call(ctx, j)
		done := j
		s.events <- func() { s.pending--; s.finishJob(ctx, done, outcome) }
	}
}

// call makes the callback of a job. After a panic its outcome is unknown, and its items go on
// the ladder like any others: a message that always panics is given up in the end.
func (s *sender) call(ctx context.Context, j job) (outcome send.Outcome) {
	err := guard(ctx, func() error {
		outcome = s.Sender.Send(ctx, s.message(j))
		return nil
	})
	if err != nil {
		outcome = send.Failed(delivery.NoFailure)
		outcome.Detail = string(delivery.CallBroken)
	}
	return outcome
}

// message is the message of a job.
func (s *sender) message(j job) send.Message {
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

// finishJob handles the outcome of a job.
func (s *sender) finishJob(ctx context.Context, j job, outcome send.Outcome) {
	s.release()
	s.state.InFlight -= j.to - j.from
	if ctx.Err() != nil {
		return // the run has ended
	}
	if outcome.NoVerdict {
		s.sendAgain(ctx, j, outcome)
		return
	}
	s.state.Callbacks++
	verdict := delivery.Judge(outcome.Answer)
	s.applyRetryAfter(ctx, j, verdict, outcome)
	if verdict.Decision == delivery.DecisionDelivered {
		s.accept(j, outcome)
		return
	}
	s.refuse(j, outcome)
}

// sendAgain has a job's items sent once more: for lack of local resources no receiver was
// called, or its answer is unknown. That says nothing of the receiver, and uses up no attempt.
// If this executor has no room, it will have none at the next moment either, so the shard rests.
func (s *sender) sendAgain(ctx context.Context, j job, outcome send.Outcome) {
	j.page.unanswered = append(j.page.unanswered, span{j.from, j.to})
	s.pacer.hold(time.Now().Add(tuning.WantPause))
	if now := time.Now(); now.Sub(s.warnedAt) >= tuning.WantLogged {
		s.warnedAt = now
		activity.GetLogger(ctx).Warn("items could not be sent",
			"business_type", s.shard.BusinessType, "dispatch", s.shard.BusinessID, "failure", outcome.Describe())
	}
}

// applyRetryAfter applies a receiver's request for patience to all shards.
func (s *sender) applyRetryAfter(ctx context.Context, j job, verdict delivery.Verdict, outcome send.Outcome) {
	asked := j.settings.retryAfter(verdict, outcome.Status)
	if asked <= 0 {
		return
	}
	now := wire.At(outcome.Ended)
	wish := policy.BackPressure{Since: now, Until: now.Add(asked), Status: outcome.Status}
	s.pacer.hold(wish.Until.Time())
	if s.holding || !j.settings.speaks {
		return
	}
	s.holding = true
	holdBack := func() error { return s.Policies.HoldBack(ctx, s.shard.BusinessType, wish) }
	s.startWork(ctx, holdBack, func(error) { // the next answer repeats the request
		s.holding = false
		s.refresh.now()
	})
}

// retry puts an item that was not taken on the ladder, or gives it up.
func (s *sender) retry(j job, i int, verdict delivery.Verdict, failure *delivery.Failure) {
	item := j.page.items[i]
	item.Attempts++
	item.Failure = failure
	made := j.page.Attempts + 1
	asked := min(verdict.RetryAfter, j.settings.policy.LongestBackPressure())
	wait, more := j.settings.retry.NextWait(made, asked, rand.Float64())
	if verdict.Decision == delivery.DecisionStop || !more {
		made = givenUp
	}
	s.retries.putItem(made, failedItem{j.page, i, item}, wait)
}
