package delivery

import (
	"net/url"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Fallback is the second link of a policy. Its timers use it while the callback is down, and
// after the callback has used up the ladder. Timers with their own destination do not have it.
type Fallback struct {
	Callback
	// After is how long the callback must have failed, for the whole type.
	After wire.Duration `json:"after,omitzero"`
}

// Link is one of the ways to the receiver of a business type.
type Link string

// The closed list of links; left out where the policy has only the callback.
const (
	LinkCallback Link = "callback"
	LinkFallback Link = "fallback"
)

// WithDefaults returns the fallback with its defaults filled in.
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
		errs.AddBeside("", wire.CodeConflict, "is allowed only with callback.url, callback.broker or callback.stream",
			"/../callback/url", "/../callback/broker", "/../callback/stream")
	case f.Kind() == NoDestination:
		errs.AddBeside(pointer, wire.CodeRequired, "give url, broker or stream", "/broker", "/stream")
	case f.Routed(businessType).sameReceiver(callback.Routed(businessType)):
		errs.AddBeside(pointer, wire.CodeConflict, "must differ from the callback",
			"/exchange", "/routing_key", "/../callback/exchange", "/../callback/routing_key")
	}
	wire.EnforceNonZero(&errs, FieldFallbackAfter, f.After)
	return append(errs, f.Callback.Check()...)
}

// sameReceiver reports whether both lead to the same receiver, in any spelling.
func (d Destination) sameReceiver(other Destination) bool {
	if d == other || !d.sameOrigin(other) || d.URL == "" {
		return d == other
	}
	one, _ := url.Parse(d.URL) // a URL with an origin has been parsed
	two, _ := url.Parse(other.URL)
	return one.RequestURI() == two.RequestURI()
}

// StepFor returns the time until the callback is tried again after report; zero if it has no
// attempts left.
func (r Retry) StepFor(report *Report) time.Duration {
	made := 1
	if report != nil {
		made = max(report.Attempt-report.Fallbacks, made)
	}
	step, _ := r.NextWait(made, 0, middle)
	return step
}

// middle is the chance that gives a wait without jitter.
const middle = 0.5

// LinkFor returns the link that the ladders require for the next attempt; "" if they allow both.
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

// NextByLinks is [Retry.NextWait] for two links, each with a whole ladder. A delivery changes to
// the other link after one has used up its ladder, at once if the other was never tried. report
// is of the attempt that failed.
func (r Retry) NextByLinks(report Report, asked time.Duration, chance float64) (wait time.Duration, more bool) {
	made := map[Link]int{LinkCallback: report.Attempt - report.Fallbacks, LinkFallback: report.Fallbacks}
	link := report.Link
	if made[link] >= r.Attempts() {
		link = link.Other()
		asked = 0 // the first link asked for the wait
	}
	if made[link] == 0 {
		return asked, true
	}
	return r.NextWait(made[link], asked, chance)
}

// Other returns the other one of two links.
func (l Link) Other() Link {
	if l == LinkCallback {
		return LinkFallback
	}
	return LinkCallback
}

// Down reports whether an answer shows that the destination is unreachable or not working. Up
// reports whether it was reached, even if it refused this one message. An answer about
// Wakecall's own data is neither.
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
