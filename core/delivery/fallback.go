package delivery

import (
	"net/url"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Fallback is the second link of a policy: where its timers go while the callback is
// down, and where it has used up their ladder. Only timers without a destination of
// their own have it.
type Fallback struct {
	Callback
	// After is how long the callback must have failed, for the type as a whole.
	After wire.Duration `json:"after,omitzero"`
}

// Link is one of the ways to the receiver of a business type.
type Link string

// The closed list of links; left out where the policy has only the callback.
const (
	LinkCallback Link = "callback"
	LinkFallback Link = "fallback"
)

// WithDefaults fills what the fallback leaves out.
func (f Fallback) WithDefaults() *Fallback {
	if f.Timeout == 0 {
		f.Timeout = wire.Duration(DefaultAttemptTimeout)
	}
	if f.After == 0 {
		f.After = wire.Duration(DefaultFallbackAfter)
	}
	return &f
}

// Check returns what is wrong with the second link of a callback.
func (f Fallback) Check(callback Destination, businessType string) (errs wire.FieldErrors) {
	pointer := "/url"
	switch f.Kind() {
	case DestinationAMQP:
		pointer = "/broker"
	case DestinationStream:
		pointer = "/stream"
	default:
	}
	switch {
	case !callback.Addressed():
		errs.Add("", wire.CodeConflict, "goes with callback.url, callback.broker or callback.stream")
	case f.Kind() == NoDestination:
		errs.Add(pointer, wire.CodeRequired, "give url, broker or stream")
	case f.Routed(businessType).sameReceiver(callback.Routed(businessType)):
		errs.Add(pointer, wire.CodeConflict, "must lead elsewhere than the callback")
	}
	wire.EnforceNonZero(&errs, FieldFallbackAfter, f.After)
	return append(errs, f.Callback.Check()...)
}

// sameReceiver reports whether both lead to the same receiver, however they are written.
func (d Destination) sameReceiver(other Destination) bool {
	if d == other || !d.sameOrigin(other) || d.URL == "" {
		return d == other
	}
	one, _ := url.Parse(d.URL) // what has an origin was parsed
	two, _ := url.Parse(other.URL)
	return one.RequestURI() == two.RequestURI()
}

// StepFor is the time until the callback is tried again whose last attempt left report; zero
// for no more attempts of it.
func (r Retry) StepFor(report *Report) time.Duration {
	made := 1
	if report != nil {
		made = max(report.Attempt-report.Fallbacks, made)
	}
	step, _ := r.NextWait(made, 0, middle)
	return step
}

// middle is the chance that leaves a wait as long as the ladder says.
const middle = 0.5

// LinkFor is the link of the next attempt after the report before it, as far as ladders
// decide; "" where either may be taken.
func (r Retry) LinkFor(last Report) Link {
	callbackUsed, fallbackUsed := last.usedUp(r)
	switch {
	case callbackUsed && !fallbackUsed:
		return LinkFallback
	case fallbackUsed:
		return LinkCallback
	default:
		return ""
	}
}

func (r Report) usedUp(ladder Retry) (callback, fallback bool) {
	return r.Attempt-r.Fallbacks >= ladder.Attempts(), r.Fallbacks >= ladder.Attempts()
}

// NextByLinks is [Retry.NextWait] where each of two links has the ladder for itself: a
// delivery goes over to the other link where one has used it up, at once when that was
// never tried. report is that of the attempt that failed.
func (r Retry) NextByLinks(report Report, asked time.Duration, chance float64) (wait time.Duration, more bool) {
	made := map[Link]int{LinkCallback: report.Attempt - report.Fallbacks, LinkFallback: report.Fallbacks}
	link := report.Link
	if made[link] >= r.Attempts() {
		link = link.Other()
		asked = 0 // it was the first one's wish
	}
	if made[link] == 0 {
		return asked, true
	}
	return r.NextWait(made[link], asked, chance)
}

// Other is the other one of two links.
func (l Link) Other() Link {
	if l == LinkCallback {
		return LinkFallback
	}
	return LinkCallback
}

// Down reports whether an answer says that nobody can be reached or nobody can work, and
// Up whether somebody was, who may have refused this one message. An answer that speaks
// only of what Wakecall holds is neither.
func (a Answer) Down() bool {
	switch a.Class {
	case NoFailure, SealedHeader, BadRequest:
		return false
	case Answered:
		return a.Status >= 500
	default:
		return true
	}
}

// Up is described with [Answer.Down].
func (a Answer) Up() bool { return a.Delivered || (a.Class == Answered && a.Status < 500) }
