package timer

import (
	"math"
	"strconv"
	"time"
)

// Retry is a ladder of waits between attempts: either explicit steps, or
// exponential growth. A ladder of n steps makes 1 + n attempts.
type Retry struct {
	// Steps are the waits, first to last. An empty, non-nil list means one
	// attempt and no retry.
	Steps []Duration `json:"steps,omitzero"`

	// Initial is the first wait of the exponential kind; each next one is
	// Multiplier times longer, up to MaxInterval, for MaxAttempts attempts in all.
	Initial     Duration `json:"initial,omitzero"`
	Multiplier  float64  `json:"multiplier,omitzero"`
	MaxInterval Duration `json:"max_interval,omitzero"`
	MaxAttempts int      `json:"max_attempts,omitzero"`

	// Jitter spreads each wait evenly over ± this fraction of it, 0 to 1.
	Jitter float64 `json:"jitter,omitzero"`
}

// DefaultRetry is the ladder of a policy that names none: six attempts over
// about seven hours, spread so that an outage does not end in one burst.
func DefaultRetry() Retry {
	return Retry{
		Steps: []Duration{
			Duration(10 * time.Second), Duration(time.Minute), Duration(10 * time.Minute),
			Duration(time.Hour), Duration(6 * time.Hour),
		},
		Jitter: 0.2,
	}
}

const (
	defaultMultiplier  = 2
	defaultMaxInterval = Duration(time.Hour)
	defaultMaxAttempts = 10
)

// WithDefaults fills what an exponential ladder leaves out.
func (r Retry) WithDefaults() Retry {
	if r.Steps != nil {
		return r
	}
	if r.Multiplier == 0 {
		r.Multiplier = defaultMultiplier
	}
	if r.MaxInterval == 0 {
		r.MaxInterval = max(defaultMaxInterval, r.Initial)
	}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = defaultMaxAttempts
	}
	return r
}

// Attempts is how many attempts the ladder makes.
func (r Retry) Attempts() int {
	if r.Steps != nil {
		return 1 + len(r.Steps)
	}
	return r.MaxAttempts
}

// Wait is the time between attempt number made (from 1) and the next one; more
// is false when the ladder is used up. chance in [0,1) places the jitter.
func (r Retry) Wait(made int, chance float64) (wait time.Duration, more bool) {
	if made >= r.Attempts() {
		return 0, false
	}
	if r.Steps != nil {
		wait = r.Steps[made-1].D()
	} else {
		grown := float64(r.Initial) * math.Pow(r.Multiplier, float64(made-1))
		wait = time.Duration(min(grown, float64(r.MaxInterval)))
	}
	spread := 1 + r.Jitter*(2*chance-1)
	return time.Duration(float64(wait) * spread), true
}

// NextWait is the time until the attempt that follows number made, and whether
// there is one. It is the larger of the ladder's step and what the receiver
// asked for.
func (r Retry) NextWait(made int, asked time.Duration, chance float64) (time.Duration, bool) {
	step, more := r.Wait(made, chance)
	return max(step, asked), more
}

// CutTo shortens a wait that begins at now so that it ends at latest at the
// latest; a latest of zero never cuts.
func CutTo(latest Instant, wait time.Duration, now time.Time) time.Duration {
	if latest == 0 {
		return wait
	}
	return max(min(wait, latest.Until(now)), 0)
}

// Check returns what is wrong with the ladder, before defaults are filled in.
func (r Retry) Check() (errs FieldErrors) {
	if r.Steps != nil {
		errs = r.checkSteps()
	} else {
		errs = r.checkExponential()
	}
	enforce(&errs, fieldRetryJitter, r.Jitter)
	return errs
}

func (r Retry) checkSteps() (errs FieldErrors) {
	if r.Initial != 0 || r.Multiplier != 0 || r.MaxInterval != 0 || r.MaxAttempts != 0 {
		errs.Add("/steps", CodeInvalidRetry, "give either steps or initial, multiplier, max_interval, max_attempts")
	}
	if !enforceLength(&errs, listSteps, "/steps", len(r.Steps)) {
		return errs
	}
	for i, step := range r.Steps {
		enforce(&errs, fieldStep.as("/steps/"+strconv.Itoa(i)), step)
	}
	return errs
}

func (r Retry) checkExponential() (errs FieldErrors) {
	if r.Initial == 0 {
		errs.Add("/initial", CodeRequired, "give either steps or initial")
	}
	enforceNonZero(&errs, fieldInitial, r.Initial)
	enforceNonZero(&errs, fieldMultiplier, r.Multiplier)
	enforceNonZero(&errs, fieldMaxInterval, r.MaxInterval)
	if r.MaxInterval != 0 && r.MaxInterval < r.Initial {
		errs.Add("/max_interval", CodeOutOfRange, "must not be below initial")
	}
	enforceNonZero(&errs, fieldMaxAttempts, r.MaxAttempts)
	return errs
}

func (r Retry) isZero() bool {
	return r.Steps == nil && r.Initial == 0 && r.Multiplier == 0 && r.MaxInterval == 0 &&
		r.MaxAttempts == 0 && r.Jitter == 0
}
