package timer

// Change moves or edits a timer. It travels as a signal.
type Change struct {
	// ID tells the sender whether its change was applied.
	ID string `json:"id"`
	// Booking, of an upsert, is the booking that the same call makes if there
	// is no timer to change.
	Booking string `json:"booking,omitzero"`
	// Replace is whether terms left out go back to their defaults (PUT) or
	// stay as they are (PATCH).
	Replace bool  `json:"replace,omitzero"`
	Terms   Terms `json:"terms"`
	// Fingerprint becomes the timer's.
	Fingerprint string `json:"fingerprint"`
	// At is when the change was asked for; a delay counts from it.
	At Instant `json:"at"`
}

// Apply returns the spec with the change made, and its revision raised. It
// refuses a change that would leave the latest time before the due time.
func (s Spec) Apply(c Change) (Spec, error) {
	if c.Replace {
		s.LatestAt, s.ExpiresAfter, s.Callback, s.Retry, s.Priority, s.ContentType = 0, 0, nil, nil, 0, ""
	}
	if due, ok := c.Terms.Due(c.At.Time()); ok {
		s.DueAt = due
	}
	if c.Terms.LatestAt != nil {
		s.LatestAt, s.ExpiresAfter = *c.Terms.LatestAt, 0
	}
	if c.Terms.ExpiresAfter != nil {
		s.LatestAt, s.ExpiresAfter = 0, *c.Terms.ExpiresAfter
	}
	s = s.override(c.Terms)
	if s.LatestAt != 0 && s.LatestAt < s.DueAt {
		return Spec{}, Faults{{"/latest_at", CodeOutOfRange, "must not be before the due time"}}.Err()
	}
	if latest := s.Latest(0); latest != 0 && latest <= c.At {
		return Spec{}, Faults{{"/expires_after", CodeOutOfRange, "must leave time to ring: the timer would be expired already"}}.Err()
	}
	s.Revision++
	s.Fingerprint, s.Refused = c.Fingerprint, ""
	return s, nil
}

func (s Spec) override(t Terms) Spec {
	if t.Payload != nil {
		s.ContentType = t.Payload.ContentType
	}
	if t.Callback != nil {
		s.Callback = t.Callback
	}
	if t.Retry != nil {
		retry := t.Retry.WithDefaults()
		s.Retry = &retry
	}
	if t.Priority != nil {
		s.Priority = *t.Priority
	}
	if s.Priority == 0 {
		s.Priority = DefaultPriority
	}
	return s
}
