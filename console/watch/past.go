package watch

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Past is what is known of the last day of a business type.
type Past struct {
	// Hours is how its timers ended, hour by hour.
	Hours []calls.OutcomeStep
	// PerSecond is how many callbacks a second the last whole minute had; nil where it is not known.
	PerSecond *float64
	// Repeated are the attempts of a minute that failed and were repeated; nil where they are few.
	Repeated *Repeated
	// Recorded is what the report of the day has, which knows each occurrence of a recurring timer; nil where it
	// cannot be read.
	Recorded *calls.Objective
}

// Repeated are attempts of a minute that failed and were repeated, and how many attempts it had. Their timers may end
// well: by a later attempt, or by the fallback.
type Repeated struct {
	N, Of int
	// Failure is the last one of the timer that was delivered last; nil where that had none.
	Failure *calls.Failure
}

// Ended is how many timers have failed for good. A recurring timer goes on after an occurrence that failed.
func (p *Past) Ended() (n int) {
	for _, hour := range p.Hours {
		n += hour.Failed
	}
	return n
}

// Failed is how many timers and occurrences have failed. The report may lack the last minutes.
func (p *Past) Failed() int {
	if p.Recorded == nil {
		return p.Ended()
	}
	return max(p.Ended(), p.Recorded.Failed)
}

// behind reads how the last day was. It changes slowly, and is not read for each picture.
func (l *looker) behind() {
	if l.At.Sub(l.PastAt) < tuning.LookPastEvery {
		return
	}
	before := l.Past
	l.PastAt, l.Past = l.At, map[string]*Past{}
	for _, policy := range l.Foreseen() {
		past := before[policy.BusinessType]
		if hours, ok := l.outcomes(policy.BusinessType, words.Day, words.Hour); ok {
			past = &Past{Hours: hours}
			l.lastMinute(policy.BusinessType, past)
		}
		if past != nil {
			l.Past[policy.BusinessType] = l.withReport(past, policy.BusinessType)
		}
	}
}

// withReport is a past with what the report of the day has of its type. One that is not listed had nothing.
func (l *looker) withReport(past *Past, businessType string) *Past {
	with := *past
	if with.Recorded = nil; l.report != nil {
		recorded := l.report[businessType]
		with.Recorded = &recorded
	}
	return &with
}

// objectives are the report of the last day, by business type; nil where it cannot be read. The API counts the
// open timers for it, so it is asked just after they were counted: then it knows them.
func (l *looker) objectives() map[string]calls.Objective {
	var all struct {
		BusinessTypes []calls.Objective `json:"business_types"`
	}
	query := url.Values{"window": {words.Day.String()}}
	if l.api.InContext(l.ctx, calls.Get(calls.Root+"slo").With(query), &all) != nil {
		return nil // the table does without
	}
	report := map[string]calls.Objective{}
	for _, one := range all.BusinessTypes {
		report[one.BusinessType] = one
	}
	return report
}

func (l *looker) outcomes(businessType string, back, step time.Duration) ([]calls.OutcomeStep, bool) {
	query := url.Values{"business_type": {businessType}, "from": {words.ISO(l.At.Add(-back))}, "step": {step.String()}}
	var past calls.Outcomes
	problem := l.api.InContext(l.ctx, calls.Get(calls.Root+"outcomes").With(query), &past)
	return past.Steps, problem == nil
}

// lastMinute adds the rate of the last whole minute: of attempts where they are known, and else of timers that ended.
// Attempts that fail are also looked for in the present minute.
func (l *looker) lastMinute(businessType string, past *Past) {
	steps, ok := l.outcomes(businessType, words.Minute, words.Minute)
	if !ok || len(steps) == 0 {
		return
	}
	rate := float64(max(steps[0].Attempts, int64(steps[0].Ended()))) / words.Minute.Seconds()
	past.PerSecond = &rate
	worst := slices.MaxFunc(steps, func(a, b calls.OutcomeStep) int { return cmp.Compare(a.Retried, b.Retried) })
	if worst.Retried == 0 || float64(worst.Retried) < tuning.FailingShare*float64(worst.Attempts) {
		return
	}
	past.Repeated = &Repeated{N: int(worst.Retried), Of: int(max(worst.Attempts, worst.Retried))}
	if newest := l.newestDelivered(businessType); newest != nil {
		past.Repeated.Failure = newest.Failure()
	}
}
