package watch

import (
	"net/url"
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
	// OnTime is the share of timers that rang on time; nil where none was to ring, or it is not known.
	OnTime *float64
}

// Failed is how many timers have failed.
func (p *Past) Failed() (n int) {
	for _, hour := range p.Hours {
		n += hour.Failed
	}
	return n
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
			past.PerSecond = l.perSecond(policy.BusinessType)
		}
		if past != nil {
			past.OnTime = l.onTime[policy.BusinessType]
			l.Past[policy.BusinessType] = past
		}
	}
}

// objectives are the shares of timers that rang on time, by business type. The API counts the open timers
// for it, so it is asked just after they were counted: then it knows them.
func (l *looker) objectives() map[string]*float64 {
	var all struct {
		BusinessTypes []calls.Objective `json:"business_types"`
	}
	l.api.InContext(l.ctx, calls.Get(calls.Root+"slo").With(url.Values{"window": {words.Day.String()}}), &all) // the table does without
	shares := map[string]*float64{}
	for _, one := range all.BusinessTypes {
		shares[one.BusinessType] = one.Share
	}
	return shares
}

func (l *looker) outcomes(businessType string, back, step time.Duration) ([]calls.OutcomeStep, bool) {
	query := url.Values{"business_type": {businessType}, "from": {words.ISO(l.At.Add(-back))}, "step": {step.String()}}
	var past calls.Outcomes
	problem := l.api.InContext(l.ctx, calls.Get(calls.Root+"outcomes").With(query), &past)
	return past.Steps, problem == nil
}

// perSecond is the rate of the last whole minute: of attempts where they are known, and else of
// timers that ended.
func (l *looker) perSecond(businessType string) *float64 {
	steps, ok := l.outcomes(businessType, words.Minute, words.Minute)
	if !ok || len(steps) == 0 {
		return nil
	}
	rate := float64(max(steps[0].Attempts, int64(steps[0].Ended()))) / words.Minute.Seconds()
	return &rate
}
