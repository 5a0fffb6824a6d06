package wire

// Bound is one end of a span of time, with the name that its field has for a caller. At is zero for no
// bound.
type Bound struct {
	Field string
	At    Instant
}

// Span is a time between two moments that a caller gave.
type Span struct {
	From, To Bound
	// Closed reports whether To belongs to the span.
	Closed bool
}

// Check refuses a span that has no moment: it ends before it begins, or at its begin without being closed. The
// error names the end. A span with one bound is never refused.
func (s Span) Check() (errs FieldErrors) {
	switch {
	case s.From.At == 0 || s.To.At == 0:
	case s.Closed && s.To.At < s.From.At:
		errs.Add(s.To.Field, CodeOutOfRange, "must not be before "+s.From.Field)
	case !s.Closed && s.To.At <= s.From.At:
		errs.Add(s.To.Field, CodeOutOfRange, "must be later than "+s.From.Field)
	}
	return errs
}
