package timer

import (
	"fmt"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Reason is why a timer is in its state.
type Reason string

// The reasons beside those for waits ([delivery.Waitings]) and the ends, which have the names of
// their statuses.
const (
	// ReasonCancelRequested: a durable cancel waits for a worker.
	ReasonCancelRequested Reason = "cancel_requested"
	// ReasonPaused: a caller has paused this timer.
	ReasonPaused Reason = "paused"
	// ReasonNotDue: its time has not come.
	ReasonNotDue Reason = "not_due"
	// ReasonBetweenAttempts: an attempt has failed, and the next one is scheduled.
	ReasonBetweenAttempts Reason = "between_attempts"
	// ReasonAttempting: an attempt is in progress.
	ReasonAttempting Reason = "attempting"
	// ReasonOverdue: its time has come, and no reason for a wait is known.
	ReasonOverdue Reason = "overdue"
	// ReasonUnread: its source could not be read, so more may hold the timer up.
	ReasonUnread Reason = "unread"
)

// Reasons lists every reason.
func Reasons() (all []Reason) {
	for _, status := range Statuses() {
		if status.Finished() {
			all = append(all, Reason(status))
		}
	}
	all = append(all, ReasonCancelRequested, ReasonPaused)
	for _, waiting := range delivery.Waitings() {
		all = append(all, Reason(waiting))
	}
	return append(all, ReasonNotDue, ReasonBetweenAttempts, ReasonAttempting, ReasonOverdue, ReasonUnread)
}

// ReasonSource is the source of a reason.
type ReasonSource string

// The sources of reasons.
const (
	FromTimer     ReasonSource = "timer"
	FromEmergency ReasonSource = "emergency"
	FromPolicy    ReasonSource = "policy"
	FromReceiver  ReasonSource = "receiver"
	FromWorker    ReasonSource = "worker"
)

// ReasonSources lists every source.
func ReasonSources() []ReasonSource {
	return []ReasonSource{FromTimer, FromEmergency, FromPolicy, FromReceiver, FromWorker}
}

// Fact is one reason for a timer's state.
type Fact struct {
	Fact Reason `json:"fact"`
	// Text is a sentence about the fact.
	Text string `json:"text"`
	// Everything reports whether an emergency has paused all business types; else BusinessType is the
	// one that is paused.
	Everything   bool   `json:"everything,omitzero"`
	BusinessType string `json:"business_type,omitzero"`
	// Attempt is the number of the last failed attempt; Status and Class describe its failure.
	Attempt int                   `json:"attempt,omitzero"`
	Status  int                   `json:"status,omitzero"`
	Class   delivery.FailureClass `json:"class,omitzero"`

	Source ReasonSource `json:"source"`
	Since  wire.Instant `json:"since,omitzero"`
	Until  wire.Instant `json:"until,omitzero"`
	By     string       `json:"by,omitzero"`
	Note   string       `json:"note,omitzero"`
	// Queued is how many attempts wait at the limit, and PerSecond how many leave it.
	Queued    int     `json:"queued,omitzero"`
	PerSecond float64 `json:"per_second,omitzero"`
}

// Why returns the reasons for a timer's state, the gravest first. It uses only what the timer
// shows and its circumstances, guesses nothing, and says what could not be read.
func (v View) Why(now wire.Instant) (facts []Fact) {
	if v.Status.Finished() {
		return []Fact{v.ended()}
	}
	if v.CancelRequested {
		facts = append(facts, Fact{Fact: ReasonCancelRequested, Source: FromTimer,
			Text: "A cancel is requested, and no worker has applied it yet."})
	}
	if v.Status == Paused {
		facts = append(facts, Fact{Fact: ReasonPaused, Source: FromTimer,
			Text: "It is paused until it is resumed; the history shows who paused it.", Note: v.Note})
	}
	if hold := v.hold(); hold.WaitsFor != "" {
		facts = append(facts, v.held(hold))
		for _, other := range v.Circumstances.Others {
			facts = append(facts, v.held(other))
		}
	}
	reason, ok := v.pending(now, len(facts) > 0)
	switch {
	case !ok:
		facts = append(facts, v.unread()...)
	case reason.Fact == ReasonOverdue: // what was not read may be the reason
		facts = append(append(facts, v.unread()...), reason)
	default:
		facts = append(append(facts, reason), v.unread()...)
	}
	return facts
}

// unread has a sentence for each source that can fail.
var unread = map[ReasonSource]string{
	FromEmergency: "Whether an emergency pauses its callbacks could not be read.",
	FromPolicy:    "Its policy could not be read.",
	FromWorker:    "The queue of its business type could not be read.",
}

// unread names the sources that could not be read.
func (v View) unread() (facts []Fact) {
	for _, source := range v.Circumstances.Unread {
		facts = append(facts, Fact{Fact: ReasonUnread, Text: unread[source], Source: source})
	}
	return facts
}

// ended returns how it ended.
func (v View) ended() Fact {
	fact := Fact{Fact: Reason(v.Status), Source: FromTimer}
	switch v.Status {
	case Delivered:
		fact.Since, fact.Text = v.DeliveredAt, "It is delivered: its receiver accepted it."
	case Failed:
		fact.Text = "It has failed: no further attempt is made unless it is redelivered."
		if v.LastFailure != nil {
			fact.Since = v.LastFailure.At
			fact.Attempt, fact.Status, fact.Class = v.Attempts, v.LastFailure.Status, v.LastFailure.Class
			fact.Text = fmt.Sprintf("It has failed (%s): no further attempt is made unless it is redelivered.", failureOf(*v.LastFailure))
		}
	case Expired:
		fact.Since, fact.Text = v.LatestAt, "It has expired: its latest time passed before a delivery."
	default:
		fact.Text = "It is cancelled."
	}
	return fact
}

// failureOf describes a failure without the receiver's text.
func failureOf(f delivery.Failure) string {
	switch {
	case f.Status != 0:
		return fmt.Sprintf("HTTP %d", f.Status)
	case f.Class != "":
		return string(f.Class)
	default:
		return "no attempt was made"
	}
}

// holds has a sentence and the source for each reason of a wait.
var holds = map[delivery.Waiting]struct {
	text   string
	source ReasonSource
}{
	delivery.WaitsForEmergency:    {"", FromEmergency}, // see stopped
	delivery.WaitsForPause:        {"Its policy is paused.", FromPolicy},
	delivery.WaitsForBackPressure: {"Its receiver asked for a delay of the whole business type.", FromReceiver},
	delivery.WaitsForRetryAfter:   {"Its receiver asked for a delay of this timer.", FromReceiver},
	delivery.WaitsForLimit:        {"The callbacks_per_second limit of its policy is reached.", FromPolicy},
	delivery.WaitsForInFlight:     {"The in_flight limit of its policy is reached.", FromPolicy},
	delivery.WaitsForPolicy:       {"Its policy is missing or cannot be read, or has no callback.", FromPolicy},
	delivery.WaitsForReceiver:     {"No receiver with room is connected for its business type.", FromReceiver},
	delivery.WaitsForAck:          {"Its receiver has accepted it, and has not acknowledged it yet.", FromReceiver},
	delivery.WaitsForTurn:         {"Its business type has used up its share of the workers.", FromWorker},
	delivery.WaitsForWorker:       {"No worker has taken it.", FromWorker},
}

// hold is what holds its attempts up, also if one is under way.
func (v View) hold() delivery.Wait {
	if v.WaitsFor != "" {
		return v.Wait
	}
	return v.Circumstances.Stopped
}

func (v View) held(by delivery.Wait) Fact {
	hold, c := holds[by.WaitsFor], v.Circumstances
	fact := Fact{
		Fact: Reason(by.WaitsFor), Text: hold.text, Source: hold.source,
		Since: by.WaitsSince, Until: by.WaitsUntil, By: by.WaitsBy, Note: by.WaitsNote,
	}
	switch {
	case by.WaitsFor == delivery.WaitsForEmergency:
		fact.Text, fact.Everything = stopped(by, c.AllPaused), c.AllPaused
		if !c.AllPaused {
			fact.BusinessType = v.BusinessType
		}
	case by.WaitsFor == delivery.WaitsForLimit && c.Queued > 0:
		fact.Queued, fact.PerSecond = c.Queued, c.PerSecond
		if before := c.Queued - 1; before > 0 {
			takes := wire.Estimate(float64(before), c.PerSecond).Round(time.Second)
			fact.Text = fmt.Sprintf("The callbacks_per_second limit of its policy is reached: at most %d before it, at %g a second, so about %s.",
				before, c.PerSecond, takes)
		}
	case by.WaitsFor == delivery.WaitsForWorker && c.LastPoll != 0:
		fact.Since, fact.Text = c.LastPoll, "No worker has taken it. The last one asked for such attempts at the time given."
	}
	return fact
}

// stopped is a sentence about the emergency that holds the timer back: what is paused, its author, its
// beginning and its reason.
func stopped(by delivery.Wait, everything bool) string {
	text := "The callbacks of its business type are paused"
	if everything {
		text = "The callbacks of all business types are paused"
	}
	if by.WaitsBy != "" {
		text += " by " + by.WaitsBy
	}
	if by.WaitsSince != 0 {
		text += " since " + by.WaitsSince.String()
	}
	if by.WaitsNote != "" {
		text += ", with the note: " + by.WaitsNote
	}
	return text + "."
}

// pending returns the progress of the timer, which is no reason by itself if something holds it.
func (v View) pending(now wire.Instant, held bool) (fact Fact, ok bool) {
	fact = Fact{Source: FromTimer}
	switch {
	case v.Status == Scheduled && v.ringsAt() > now:
		fact.Fact, fact.Until, fact.Text = ReasonNotDue, v.ringsAt(), "It waits for its due time."
	case v.Status == Paused:
		return Fact{}, false
	case v.LastFailure != nil && v.NextAttemptAt > now:
		fact.Fact, fact.Since, fact.Until = ReasonBetweenAttempts, v.LastFailure.At, v.NextAttemptAt
		fact.Attempt, fact.Status, fact.Class = v.Attempts, v.LastFailure.Status, v.LastFailure.Class
		fact.Text = fmt.Sprintf("Attempt %d has failed (%s); the next one waits for its time.", v.Attempts, failureOf(*v.LastFailure))
	case held && v.Circumstances.Stopped.WaitsFor == "":
		return Fact{}, false
	case v.Status == Delivering:
		fact = v.attempting()
	default:
		fact.Fact, fact.Since, fact.Text = ReasonOverdue, v.DueAt, "It is due, and no reason for a delay is known."
		if by := v.Circumstances.WokenBy; by > now {
			fact.Until, fact.Text = by, fact.Text+" A worker that lives wakes it by the time given."
		}
	}
	return fact, true
}

// ringsAt is the due time, plus the jitter of a recurring timer.
func (v View) ringsAt() wire.Instant { return max(v.DueAt, v.Memo.RingsAt()) }

// attempting is the attempt under way.
func (v View) attempting() Fact {
	c := v.Circumstances
	fact := Fact{Fact: ReasonAttempting, Source: FromWorker, Since: c.AttemptSince, By: c.Worker}
	fact.Text = "An attempt is about to begin, or under way. Which worker makes it is not known."
	if c.Worker != "" {
		fact.Text = "An attempt is under way."
	}
	return fact
}
