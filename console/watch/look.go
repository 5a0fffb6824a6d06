package watch

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/questions"
	"github.com/wakecall/wakecall/internal/tuning"
)

// watcher is the principal of a look. It sees everything but payloads. [Picture.SeenBy] has the part of one
// visitor.
var watcher = &auth.Principal{
	Name: "console", By: auth.ByNothing, Via: auth.ViaConsole,
	Grants: []auth.Grant{{Role: auth.Viewer, Types: []string{auth.AllBusinessTypes}}},
}

// look makes a picture. Each part that cannot be read is kept from the last one.
func (l *looker) look(last *Picture, now time.Time) *Picture {
	ctx, cancel := context.WithTimeout(auth.With(questions.Background(context.Background()), watcher), tuning.LookTimeout)
	defer cancel()
	next := *last
	next.At, next.Away, next.Took = now, map[Part]bool{}, map[Part]time.Duration{}
	l.ctx, l.Picture = ctx, &next
	l.seldom = now.Sub(last.SeldomAt) >= l.pace.Seldom || len(last.Policies) == 0 || len(last.Away) > 0
	if l.engine(); next.EngineAway() { // no other part can be read: none keeps the picture waiting
		next.Away = allAway()
		return &next
	}
	if l.seldom {
		l.workers()
	} else {
		next.Took[PartWorkers] = last.Took[PartWorkers]
	}
	parts := []func(){l.paused, l.policies, l.timers, l.counts}
	if last.Unseen() {
		parts = slices.Insert(parts, len(parts)-1, l.showFirst)
	}
	for _, part := range parts {
		if part(); next.ListsAway() {
			break
		}
	}
	if next.ListsAway() {
		for _, part := range listed {
			next.Away[part] = true
		}
	} else if next.Listed = next.At; l.seldom {
		next.SeldomAt = next.At
	}
	l.ahead()
	l.behind()
	return &next
}

// showFirst shows what has been read so far: counting takes seconds where there are hundreds of types.
func (l *looker) showFirst() {
	found := *l.Picture
	found.Listed, found.Away, found.Took = found.At, maps.Clone(found.Away), maps.Clone(found.Took)
	l.first(found)
}

// looker makes one picture.
type looker struct {
	*Picture
	api  calls.Sender
	ctx  context.Context
	pace Pace
	// first is told what the first look has found before it counts.
	first func(Picture)
	// seldom reports whether what changes seldom is read this time.
	seldom bool
}

// read asks for one answer. A part that is not answered is away.
func (l *looker) read(of Part, path string, query url.Values, to any) bool {
	began := time.Now()
	problem := l.api.InContext(l.ctx, calls.Get(path).With(query), to)
	l.Took[of] = max(l.Took[of], time.Since(began))
	if problem != nil {
		l.Away[of] = true
	}
	return problem == nil
}

// noTimer is a timer that is never booked. Temporal tells that it is not there, without a list.
const noTimer = calls.Root + "timers/wakecall/console"

// engine asks whether Temporal answers. It does not wait long for it.
func (l *looker) engine() {
	ctx, cancel := context.WithTimeout(l.ctx, tuning.LookEngine)
	defer cancel()
	began := time.Now()
	problem := l.api.InContext(ctx, calls.Get(noTimer), nil)
	l.Took[PartEngine] = time.Since(began)
	if calls.StatusOf(problem) >= http.StatusInternalServerError {
		l.Away[PartEngine] = true
		return
	}
	l.Temporal = l.At
}

func (l *looker) paused() {
	var all struct {
		Paused []calls.Pause `json:"paused"`
	}
	if l.read(PartPaused, calls.Root+"emergency", nil, &all) {
		l.Paused = all.Paused
	}
}

// workers asks whether a timer that is booked now would ring.
func (l *looker) workers() {
	if l.read(PartWorkers, "/readyz", nil, &struct{}{}) {
		l.Workers = l.At
	}
}

func (l *looker) policies() {
	if !l.seldom {
		return
	}
	var all struct {
		Policies []calls.Policy `json:"policies"`
	}
	if l.read(PartPolicies, calls.Root+"policies", nil, &all) {
		l.Policies = all.Policies
	}
}

// ahead reads what falls due in the next day, and looks for the first step of each type whose
// timers are late. The API has it in memory, and counts it anew as it sees fit.
func (l *looker) ahead() {
	if l.At.Sub(l.AheadAt) < l.pace.Ahead*time.Duration(len(l.Forecasts)) {
		return
	}
	before := l.Future
	l.AheadAt, l.Future = l.At, Future{map[string]*calls.Forecast{}, map[string]Overflow{}, map[string]*calls.Forecast{}}
	for _, policy := range l.Foreseen() {
		if soon := cmp.Or(l.soon(policy.BusinessType), before.Soon[policy.BusinessType]); soon != nil {
			l.Soon[policy.BusinessType] = soon
		}
		f := cmp.Or(l.forecast(policy.BusinessType, url.Values{"step": {tuning.LookStep.String()}}), before.Forecasts[policy.BusinessType])
		if f == nil {
			continue
		}
		l.Forecasts[policy.BusinessType] = f
		if late, ok := firstLate(f); ok {
			l.Ahead[policy.BusinessType] = l.minuteOf(policy.BusinessType, late)
		}
	}
}

// forecast reads what falls due; nil where that cannot be read.
func (l *looker) forecast(businessType string, query url.Values) *calls.Forecast {
	query.Set("business_type", businessType)
	f := &calls.Forecast{}
	if problem := l.api.InContext(l.ctx, calls.Get(calls.Root+"forecast").With(query), f); problem != nil {
		return nil
	}
	return f
}

// soon reads the minutes of the next hour, and of the time until the next look.
func (l *looker) soon(businessType string) *calls.Forecast {
	return l.forecast(businessType, url.Values{"to": {words.ISO(l.At.Add(words.Hour + tuning.LookStep))}, "step": {time.Minute.String()}})
}

// minuteOf returns the first minute of a step whose timers are late, or the whole step if no single minute is too
// full.
func (l *looker) minuteOf(businessType string, step Overflow) Overflow {
	from := step.At
	if now := l.At.Truncate(time.Minute); from.Before(now) {
		from = now
	}
	f := l.forecast(businessType, url.Values{
		"from": {words.ISO(from)}, "to": {words.ISO(step.At.Add(tuning.LookStep))}, "step": {time.Minute.String()},
	})
	if f == nil {
		return step
	}
	if minute, ok := firstLate(f); ok {
		return minute
	}
	return step
}

// firstLate is the first step whose timers are late.
func firstLate(f *calls.Forecast) (late Overflow, ok bool) {
	at := slices.IndexFunc(f.Steps, func(s calls.Step) bool { return s.Lateness != "" })
	if at < 0 || f.CallbacksPerSecond == nil {
		return Overflow{}, false
	}
	step := f.Steps[at]
	behind, _ := time.ParseDuration(step.Lateness) // the API's own
	return Overflow{At: step.At, Due: step.Due, Rate: *f.CallbacksPerSecond, Lateness: behind}, true
}
