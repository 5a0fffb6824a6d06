package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Change moves or edits a timer. It travels as a signal.
type Change struct {
	// ID identifies the change, so that the sender can learn whether it was applied.
	ID string `json:"id"`
	// Booking, of an upsert, is the booking that the same call makes if there is no timer to
	// change.
	Booking string `json:"booking,omitzero"`
	// Replace reports whether terms left out go back to their defaults (PUT) or
	// stay as they are (PATCH).
	Replace bool  `json:"replace,omitzero"`
	Terms   Terms `json:"terms"`
	// Ring reports whether to ring now, regardless of the due time.
	Ring bool `json:"ring,omitzero"`
	// Interrupts reports whether the change comes during a delivery, and Made is the delivery's
	// report. Only the timer's workflow knows them, so they are not stored.
	Interrupts bool            `json:"-"`
	Made       delivery.Report `json:"-"`
	// Wake changes nothing. It gives a late timer a workflow task, to notice that it is due.
	Wake bool `json:"wake,omitzero"`
	// Pause pauses or resumes a timer.
	Pause *Pause `json:"pause,omitempty"`
	// Preload becomes the timer's, if Replace is set.
	Preload policy.Preload `json:"preload,omitzero"`
	// Fingerprint becomes the timer's, if it is set.
	Fingerprint string `json:"fingerprint,omitzero"`
	// IfMatch, if set, is the [Memo.Tag] that the change is based on. A timer that does not meet
	// it refuses the change.
	IfMatch string `json:"if_match,omitzero"`
	// At is when the change was requested; a delay counts from it.
	At wire.Instant `json:"at"`
}

// Pause pauses or resumes a timer.
type Pause struct {
	Stop bool   `json:"stop"`
	Note string `json:"note,omitzero"`
}

// Apply returns the spec with the change made, and its revision raised. It refuses a change
// whose IfMatch does not hold, and one with its latest time not after the due time.
func (s Spec) Apply(c Change) (Spec, error) {
	if c.Wake {
		if c.Interrupts && s.Series != nil {
			s.Memo = s.ContinueCurrent()
		}
		return s, nil
	}
	if !s.MatchesTag(c.IfMatch) {
		return Spec{}, Unmet(nil)
	}
	if s.repeats(c) {
		return s, nil
	}
	if c.Replace {
		s = s.reset(c.Preload)
	}
	s.Memo = changeExpiry(s.Memo, c.Terms)
	c, err := s.pausing(c)
	if err != nil {
		return Spec{}, err
	}
	c = s.withoutSameRule(c)
	if s.Memo, err = s.reschedule(c); err != nil {
		return Spec{}, err
	}
	if s, err = s.override(c.Terms); err != nil {
		return Spec{}, err
	}
	if err := append(s.checkLatest(c), s.checkJitter(c.Terms)...).Err(); err != nil {
		return Spec{}, err
	}
	s.Applied = s.Applied.add(c.ID)
	s.Revision++
	s.UpdatedAt = c.At
	s.NotPreloaded = false
	if c.Fingerprint != "" {
		s.Fingerprint = c.Fingerprint
	}
	return s, nil
}

// reset returns the spec with the defaults of what a PUT leaves out.
func (s Spec) reset(preload policy.Preload) Spec {
	s.Memo = withExpiry(s.Memo, 0, 0)
	s.Callback, s.Retry, s.Priority, s.ContentType = nil, nil, 0, ""
	s.Preload, s.OnDelivered, s.OnFailed, s.Labels = preload, nil, nil, nil
	return s
}

// changeExpiry returns the memo with the latest time or the expiry of the terms, if they have one.
func changeExpiry(m Memo, t Terms) Memo {
	if t.LatestAt != nil {
		m = withExpiry(m, *t.LatestAt, 0)
	}
	if t.ExpiresAfter != nil {
		m = withExpiry(m, 0, *t.ExpiresAfter)
	}
	return m
}

// withoutSameRule returns the change without a rule that the timer follows already. It keeps the pause of
// that rule.
func (s Spec) withoutSameRule(c Change) Change {
	rule := c.Terms.Recurrence
	if rule == nil || !hasRule(s.Memo, *rule) {
		return c
	}
	c.Terms.Recurrence = nil
	if s.Series.Paused != rule.Paused {
		c.Pause = &Pause{Stop: rule.Paused}
	}
	return c
}

// pausing returns the change with the pause or the resumption in its terms. A PUT replaces the
// whole timer, so one without paused resumes it.
func (s Spec) pausing(c Change) (Change, error) {
	switch _, moved := c.Terms.Due(c.At.Time()); {
	case c.Terms.Recurrence != nil || c.Pause != nil || c.Terms.Paused == nil && !c.Replace:
		return c, nil
	case s.Series != nil && !moved:
		return c, wire.FieldErrors{{Pointer: "/paused", Code: wire.CodeConflict,
			Detail: "a recurring timer is paused by its recurrence, or by POST …/pause"}}.Err()
	}
	c.Pause = &Pause{Stop: c.Terms.Paused != nil && *c.Terms.Paused}
	return c, nil
}

// repeats reports whether a change repeats the last PUT, and so changes nothing. A delay counts
// from its request, so it is always new.
func (s Spec) repeats(c Change) bool {
	return c.Replace && c.Fingerprint != "" && c.Fingerprint == s.Fingerprint && c.Terms.Delay == nil &&
		(c.Terms.Recurrence != nil || s.Suspended == (c.Terms.Paused != nil && *c.Terms.Paused)) &&
		(c.Terms.Recurrence == nil || followsRule(s.Memo, *c.Terms.Recurrence))
}

// SameOccurrence reports whether the timer rings for the same occurrence before and after a change. Its
// delivery then goes on, with its attempts and its wait.
func (m Memo) SameOccurrence(changed Memo) bool {
	if m.DueAt != changed.DueAt || (m.Series == nil) != (changed.Series == nil) || m.Resting() != changed.Resting() {
		return false
	}
	return m.Series == nil || m.Series.Number == changed.Series.Number
}

// checkLatest refuses a latest time that leaves no time to ring. The ring of a paused timer is not
// known, so its latest time is not checked.
func (s Spec) checkLatest(c Change) (errs wire.FieldErrors) {
	due, ok := s.Memo, true
	switch {
	case s.Series != nil && c.Terms.LatestAt != nil:
		errs.Add("/latest_at", wire.CodeConflict, "is not allowed with a recurrence; use expires_after")
		return errs
	case s.Series != nil && (c.Pause != nil || s.Resting()) || c.Pause != nil && c.Terms.IsZero() && !c.Replace:
		return nil
	case s.Series != nil: // an overslept rule has another occurrence
		due, ok = s.NextOccurrence(c.At)
	}
	switch latest := due.Latest(0); {
	case !ok: // the rule and the timer have ended
	case s.LatestAt != 0 && s.LatestAt <= due.DueAt:
		errs.Add("/latest_at", wire.CodeOutOfRange, "must be after the due time")
	case latest != 0 && latest <= c.At:
		errs.Add("/expires_after", wire.CodeOutOfRange, "must leave time to ring: the timer would be expired already")
	}
	return errs
}

// checkJitter refuses a rule that may delay a ring until its occurrence has expired. The change
// must be about one of the two.
func (s Spec) checkJitter(t Terms) (errs wire.FieldErrors) {
	if s.Series == nil || s.ExpiresAfter == 0 || t.ExpiresAfter == nil && t.Recurrence == nil {
		return nil
	}
	if jitter := s.Series.Rule.Jitter; s.ExpiresAfter <= jitter {
		errs.Add("/expires_after", wire.CodeOutOfRange, "must be longer than the jitter of the recurrence, "+jitter.String())
	}
	return errs
}

// reschedule sets when the timer rings.
func (s Spec) reschedule(c Change) (Memo, error) {
	m := s.Memo
	if due, ok := c.Terms.Due(c.At.Time()); ok {
		if m.Series != nil && !c.Replace {
			return m, wire.FieldErrors{{Pointer: c.Terms.duePointer(), Code: wire.CodeConflict,
				Detail: "a recurring timer has a recurrence instead"}}.Err()
		}
		if promisesOccurrence(m, c.Interrupts) {
			return m, wire.FieldErrors{{Pointer: c.Terms.duePointer(), Code: wire.CodeConflict,
				Detail: "must wait: requested extra rings have not rung yet"}}.Err()
		}
		m.Debounce, m.DueAt = debounced(m, c, due)
		m.Series, m.Local = nil, c.Terms.local()
	}
	switch {
	case c.Terms.Recurrence != nil:
		return followChange(m, c)
	case c.Pause != nil && m.Series != nil && m.Series.Paused != c.Pause.Stop:
		return s.pause(c), nil
	case c.Pause != nil && m.Series == nil && m.Suspended != c.Pause.Stop:
		m.Suspended, m.Note = c.Pause.Stop, c.Pause.Note
	case c.Ring && m.Series != nil:
		return ringExtra(m, c.At, c.Interrupts)
	case c.Ring:
		m.DueAt, m.Local, m.Debounce, m.Suspended, m.Note = c.At, nil, nil, false, ""
	case c.Interrupts && m.Series != nil:
		m = m.ContinueCurrent()
	}
	return m, nil
}

// followChange returns the memo with another rule.
func followChange(m Memo, c Change) (Memo, error) {
	if m.LatestAt != 0 && c.Terms.LatestAt == nil {
		return m, wire.FieldErrors{{Pointer: "/recurrence", Code: wire.CodeConflict,
			Detail: "is not allowed with latest_at; use expires_after"}}.Err()
	}
	m.Local, m.Debounce, m.Suspended, m.Note = nil, nil, false, ""
	m, ok := beginRule(m, *c.Terms.Recurrence, c.At, c.Interrupts)
	if !ok {
		return m, wire.FieldErrors{{Pointer: "/recurrence", Code: wire.CodeInvalidRecurrence, Detail: "never rings"}}.Err()
	}
	return m, nil
}

// override sets the callback, the ladder and the priority that replace the policy's. A callback
// is amended field by field. A ladder is replaced as a whole, because the fields of its two
// kinds exclude one another.
func (s Spec) override(t Terms) (Spec, error) {
	if t.Payload != nil {
		s.ContentType = t.Payload.ContentType
	}
	if t.Callback != nil {
		callback, err := s.amendedCallback(*t.Callback)
		if err != nil {
			return Spec{}, err
		}
		s.Callback = &callback
	}
	if t.Retry != nil {
		retry := t.Retry.WithDefaults()
		s.Retry = &retry
	}
	if t.Priority != nil {
		s.Priority = *t.Priority
	}
	if t.Labels != nil {
		s.Labels = t.labels()
	}
	if t.OnDelivered != nil {
		s.OnDelivered = t.OnDelivered.OrNil()
	}
	if t.OnFailed != nil {
		s.OnFailed = t.OnFailed.OrNil()
	}
	if s.Priority == 0 {
		s.Priority = policy.DefaultPriority
	}
	return s, nil
}

// amendedCallback returns the timer's callback after a change of it.
func (s Spec) amendedCallback(change delivery.Callback) (delivery.Callback, error) {
	if s.Callback == nil {
		return change, nil
	}
	var errs wire.FieldErrors
	callback, wrong := s.Callback.Amend(change)
	errs.Under("/callback", wrong)
	return callback, errs.Err()
}
