package deliveries

import (
	"context"
	"slices"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/timers"
)

// state is the current state of a delivery.
type state struct {
	view timer.View
	// accepted is the record of the last accepted attempt, if there was one.
	accepted delivery.Acceptance
	// underWay is the number of the attempt that is being made, 0 for none. moving reports
	// whether a worker is about to record an outcome.
	underWay int
	moving   bool
}

func (d *Deliveries) state(ctx context.Context, key wire.Key) (state, error) {
	described, err := d.kernel.Describe(ctx, key.String(), "")
	if err != nil {
		return state{}, err
	}
	view, err := d.reader.Show(ctx, described)
	if err != nil {
		return state{}, err
	}
	s := state{view: view, accepted: timers.AcceptanceIn(described.GetWorkflowExecutionInfo())}
	s.moving = described.GetPendingWorkflowTask() != nil
	if view.Status != timer.Delivering {
		// The task that waits may be one whose worker died after it had called the receiver.
		s.moving = s.moving && view.Status == timer.Scheduled && view.Memo.RingsAt().Until(time.Now()) <= 0
		return s, nil
	}
	s.underWay = underWay(view, s.accepted, described.GetPendingActivities())
	return s, nil
}

// underWay is the attempt that is being made in a delivery, 0 for none.
func underWay(view timer.View, accepted delivery.Acceptance, pending []*workflowpb.PendingActivityInfo) int {
	switch {
	case view.AckUntil != 0, slices.ContainsFunc(pending, notBegun):
		return 0
	case len(pending) == 0: // it is, or was, made within the workflow task
		return accepted.Attempt + 1
	default:
		return view.Attempts
	}
}

// notBegun reports whether an attempt waits.
func notBegun(attempt *workflowpb.PendingActivityInfo) bool {
	_, waits := kernel.StandbyOf(attempt)
	return waits
}

// attemptOf is the attempt of a word. An ack says that the delivery is done, by any attempt;
// a nack concerns its own attempt.
func (s state) attemptOf(of Accepted, word delivery.Acknowledgement) int {
	current := s.underWay
	if s.view.AckUntil != 0 {
		current = s.accepted.Attempt
	}
	switch {
	case of.Attempt == 0 && current == 0:
		return s.view.Attempts
	case of.Attempt == 0, !word.Nack && s.view.AckUntil != 0 && of.Attempt < current:
		return current
	default:
		return of.Attempt
	}
}

// roundOf is the round of attempts of a word. Without an attempt it is the present round.
func (s state) roundOf(of Accepted) int {
	if of.Attempt == 0 {
		return s.view.Memo.Round
	}
	return of.Round
}

// result is the result of an acknowledgement.
type result int

const (
	undecided result = iota
	settled          // it has the effect that the receiver wants
	refused
)

// result returns the result of an acknowledgement. For a nack it also reads the record of the
// run that took it: later attempts may have overtaken the wait for its effect.
func (d *Deliveries) result(ctx context.Context, now state, said *word) (result, error) {
	became := now.result(said.Acknowledgement)
	if became != refused || !said.Nack {
		return became, nil
	}
	at := said.last
	if at.runID == "" { // it may have been said before
		at = told{now.view.RunID, said.Attempt}
	}
	attempts, err := d.attempts.OfRun(ctx, said.of.Key, at.runID)
	if slices.ContainsFunc(attempts, func(made delivery.ShownAttempt) bool {
		return made.WebhookID == said.WebhookID && made.Number == at.attempt && made.Class == delivery.Nacked
	}) {
		became = settled
	}
	return became, err
}

// result is the result of an acknowledgement, as far as the state shows it.
func (s state) result(word delivery.Acknowledgement) result {
	switch {
	case s.view.WebhookID != word.WebhookID:
		return s.resultOfPast(word)
	case s.view.Memo.Round != word.Round: // its attempt is over, whatever its number
		return refused
	}
	nacked := s.accepted.Nacked() && s.accepted.Attempt == word.Attempt
	switch {
	case !word.Nack && s.view.Status == timer.Delivered, word.Nack && nacked && s.view.Status != timer.Delivered:
		return settled
	case word.Nack && s.accepted.Attempt > word.Attempt: // its attempt is over, even if others are under way
		return refused
	case s.moving, s.view.AckUntil != 0 && s.accepted.Attempt == word.Attempt, s.underWay != 0 && s.underWay == word.Attempt:
		return undecided
	default:
		return refused
	}
}

// resultOfPast is the result of an acknowledgement of an earlier occurrence.
func (s state) resultOfPast(word delivery.Acknowledgement) result {
	past := s.view.LastOccurrence
	if past == nil || past.WebhookID != word.WebhookID {
		return refused
	}
	nacked := past.LastFailure != nil && past.LastFailure.Class == delivery.Nacked
	if !word.Nack && past.Status == timer.Delivered || word.Nack && nacked && past.Status == timer.Failed {
		return settled
	}
	return refused
}
