package delivery

import (
	"math"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// WithoutDefaults leaves out values that equal their default.
func (r Retry) WithoutDefaults() Retry {
	if r.Steps != nil {
		return r
	}
	bare := Retry{Initial: r.Initial}.WithDefaults()
	if r.Multiplier == bare.Multiplier {
		r.Multiplier = 0
	}
	if r.MaxInterval == bare.MaxInterval {
		r.MaxInterval = 0
	}
	if r.MaxAttempts == bare.MaxAttempts {
		r.MaxAttempts = 0
	}
	return r
}

// Retry is a ladder of waits between attempts: either explicit steps, or
// exponential growth. A ladder of n steps makes 1 + n attempts.
type Retry struct {
	// Steps are the waits, first to last. An empty, non-nil list means one
	// attempt and no retry.
	Steps []wire.Duration `json:"steps,omitzero"`

	// Initial is the first wait of the exponential kind. Each following wait is Multiplier times
	// longer, up to MaxInterval, for MaxAttempts attempts in all.
	Initial     wire.Duration `json:"initial,omitzero"`
	Multiplier  float64       `json:"multiplier,omitzero"`
	MaxInterval wire.Duration `json:"max_interval,omitzero"`
	MaxAttempts int           `json:"max_attempts,omitzero"`

	// Jitter spreads each wait evenly over ± this fraction of it, 0 to 1.
	Jitter float64 `json:"jitter,omitzero"`
}

// DefaultRetry returns the ladder of a policy that names none: six attempts over about seven
// hours. They are spread so that an outage does not end in one burst.
func DefaultRetry() Retry {
	return Retry{
		Steps: []wire.Duration{
			wire.Duration(10 * time.Second), wire.Duration(time.Minute), wire.Duration(10 * time.Minute),
			wire.Duration(time.Hour), wire.Duration(6 * time.Hour),
		},
		Jitter: 0.2,
	}
}

const (
	defaultMultiplier  = 2
	defaultMaxInterval = wire.Duration(time.Hour)
	defaultMaxAttempts = 10
)

// WithDefaults returns an exponential ladder with its defaults filled in.
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

// Attempts returns the number of attempts on the ladder.
func (r Retry) Attempts() int {
	if r.Steps != nil {
		return 1 + len(r.Steps)
	}
	return r.MaxAttempts
}

// Wait returns the time between attempt number made (from 1) and the next one; more is false if
// the ladder is used up. chance in [0,1) places the jitter.
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

// NextWait returns the time until the attempt after number made, and whether there is one. The
// time is the larger of the ladder's step and the receiver's request.
func (r Retry) NextWait(made int, asked time.Duration, chance float64) (time.Duration, bool) {
	step, more := r.Wait(made, chance)
	return max(step, asked), more
}

// Check returns what is wrong with the ladder, before defaults are filled in.
func (r Retry) Check() (errs wire.FieldErrors) {
	if r.Steps != nil {
		errs = r.checkSteps()
	} else {
		errs = r.checkExponential()
	}
	wire.Enforce(&errs, fieldRetryJitter, r.Jitter)
	return errs
}

func (r Retry) checkSteps() (errs wire.FieldErrors) {
	if r.Initial != 0 || r.Multiplier != 0 || r.MaxInterval != 0 || r.MaxAttempts != 0 {
		errs.Add("/steps", wire.CodeInvalidRetry, "give either steps or initial, multiplier, max_interval, max_attempts")
	}
	if !wire.EnforceLength(&errs, ListSteps, "/steps", len(r.Steps)) {
		return errs
	}
	for i, step := range r.Steps {
		wire.Enforce(&errs, fieldStep.At("/steps/"+strconv.Itoa(i)), step)
	}
	return errs
}

func (r Retry) checkExponential() (errs wire.FieldErrors) {
	if r.Initial == 0 {
		errs.AddBeside("/initial", wire.CodeRequired, "give either steps or initial", "/steps")
	}
	wire.EnforceNonZero(&errs, fieldInitial, r.Initial)
	wire.EnforceNonZero(&errs, fieldMultiplier, r.Multiplier)
	wire.EnforceNonZero(&errs, fieldMaxInterval, r.MaxInterval)
	if r.MaxInterval != 0 && r.MaxInterval < r.Initial {
		errs.Add("/max_interval", wire.CodeOutOfRange, "must not be below initial")
	}
	wire.EnforceNonZero(&errs, fieldMaxAttempts, r.MaxAttempts)
	return errs
}

// IsLeftOut reports whether the ladder is empty.
func (r Retry) IsLeftOut() bool {
	return r.Steps == nil && r.Initial == 0 && r.Multiplier == 0 && r.MaxInterval == 0 &&
		r.MaxAttempts == 0 && r.Jitter == 0
}
