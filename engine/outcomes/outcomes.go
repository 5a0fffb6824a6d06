package outcomes

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/questions"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Policies have the business types that are counted.
type Policies interface {
	List(ctx context.Context) ([]policy.Policy, error)
}

// Outcomes counts how timers ended. Everything in it is safe for concurrent use.
type Outcomes struct {
	kernel   *kernel.Kernel
	policies Policies
	// questions bounds the questions to visibility, and turn allows one count at a time. Counts that no request
	// waits for take turns by next: one of them waits for its turn.
	questions  *questions.Meter
	turn, next chan struct{}

	// spent is how many questions the count under way has asked. Who has the turn owns it.
	spent int

	mu    sync.Mutex
	types map[string]*typeCounts
}

// New returns the outcomes of a namespace.
func New(k *kernel.Kernel, policies Policies) *Outcomes {
	return &Outcomes{
		kernel: k, policies: policies,
		questions: questions.NewMeter(tuning.OutcomesPace, tuning.OutcomesDebt).AtOnce(tuning.OutcomesAtOnce),
		turn:      make(chan struct{}, 1), next: make(chan struct{}, 1), types: map[string]*typeCounts{},
	}
}

// Request asks for a span of the past. BusinessType is "" for all types that have a policy.
type Request struct {
	BusinessType string
	outcomes.Span
}

// Between returns the known counts of the types that the caller sees, and these types. The counts are a few
// seconds old. Between waits for a count only if the caller names a type without any. The error is
// [wire.Unavailable].
func (o *Outcomes) Between(
	ctx context.Context, r Request, sees func(businessType string) bool,
) (answer outcomes.Outcomes, types []string, err error) {
	answer = outcomes.Outcomes{BusinessType: r.BusinessType}
	types = []string{r.BusinessType}
	if r.BusinessType == "" {
		if types, err = o.listed(ctx, sees); err != nil {
			return answer, types, err
		}
	}
	var minutes []outcomes.Minute
	for _, businessType := range types {
		entry := o.entryFor(businessType)
		o.refresh(entry)
		if r.BusinessType != "" && !questions.InBackground(ctx) {
			if err := entry.await(ctx); err != nil {
				return answer, types, err
			}
		}
		known, countedAt := entry.between(r.Span)
		minutes, answer.CountedAt = append(minutes, known...), earlier(answer.CountedAt, countedAt)
	}
	answer.Divide(minutes, r.Span, len(types))
	return answer, types, nil
}

// earlier is the earlier of two times, without one that is zero.
func earlier(a, b wire.Instant) wire.Instant {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// listed are the types with a policy that are seen, as many as are counted.
func (o *Outcomes) listed(ctx context.Context, sees func(businessType string) bool) (types []string, err error) {
	policies, err := o.policies.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, policy := range policies {
		if sees(policy.BusinessType) && len(types) < tuning.OutcomesTypes {
			types = append(types, policy.BusinessType)
		}
	}
	return types, nil
}

// entryFor returns the counts of a business type. If there are too many types, the type that was asked for longest
// ago is dropped.
func (o *Outcomes) entryFor(businessType string) *typeCounts {
	o.mu.Lock()
	defer o.mu.Unlock()
	entry := o.types[businessType]
	if entry == nil {
		o.makeRoom()
		entry = &typeCounts{businessType: businessType}
		entry.life, entry.drop = context.WithCancel(o.kernel.Leaving)
		o.types[businessType] = entry
	}
	entry.asked = time.Now()
	return entry
}

func (o *Outcomes) makeRoom() {
	if len(o.types) < tuning.OutcomesTypes {
		return
	}
	var oldest *typeCounts
	for _, entry := range o.types {
		if oldest == nil || entry.asked.Before(oldest.asked) {
			oldest = entry
		}
	}
	delete(o.types, oldest.businessType)
	oldest.drop()
}

// refresh begins a count, unless the last one is fresh or one is under way.
func (o *Outcomes) refresh(entry *typeCounts) {
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if entry.counting == nil && !time.Now().Before(entry.again) {
		entry.counting, entry.awaited = make(chan struct{}), make(chan struct{})
		go o.fill(entry, entry.awaited)
	}
}

// fill counts the minutes that may have changed, and an hour of earlier ones without a count.
func (o *Outcomes) fill(entry *typeCounts, awaited <-chan struct{}) {
	metered, err := o.takeTurn(entry.life, awaited)
	if err != nil {
		entry.end(kernel.Translate(err), 0)
		return
	}
	defer func() { <-o.turn }()
	if !o.isAsked(entry) {
		entry.end(nil, 0)
		return
	}
	ctx, cancel := context.WithTimeout(metered, tuning.OutcomesTimeout)
	defer cancel()
	rest, err := o.fillParts(ctx, entry)
	entry.end(kernel.Translate(err), rest)
}

// isAsked reports whether a type is still asked for. Its turn may have come late.
func (o *Outcomes) isAsked(entry *typeCounts) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(entry.asked) < tuning.OutcomesAsked
}

// takeTurn waits for the turn of a count, whose questions are counted in the context that it returns. With
// hundreds of types to count, one that a request waits for goes before the others.
func (o *Outcomes) takeTurn(ctx context.Context, awaited <-chan struct{}) (context.Context, error) {
	select {
	case <-awaited:
	case o.next <- struct{}{}:
		defer func() { <-o.next }()
	case <-ctx.Done():
		return ctx, ctx.Err()
	}
	ctx, err := o.questions.TurnUnless(ctx, awaited)
	if err != nil {
		return ctx, err
	}
	select {
	case o.turn <- struct{}{}:
		return ctx, nil
	case <-ctx.Done():
		return ctx, ctx.Err()
	}
}

// fillParts counts what is open, and returns how long the last minutes rest then.
func (o *Outcomes) fillParts(ctx context.Context, entry *typeCounts) (rest time.Duration, err error) {
	for n, part := range entry.open(time.Now()) {
		o.spent = 0
		began := wire.At(time.Now())
		counted, err := o.count(ctx, entry.businessType, part)
		if n == 0 {
			rest = o.rest()
		} else {
			entry.wentBack(counted, err, o.rest())
		}
		if err != nil {
			return rest, err
		}
		entry.put(part, counted, began)
	}
	return rest, nil
}

// rest is how long the questions that were spent keep a type waiting. All types that are asked for share
// what may be asked.
func (o *Outcomes) rest() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	var asked time.Duration
	for _, entry := range o.types {
		if time.Since(entry.asked) < tuning.OutcomesAsked {
			asked++
		}
	}
	return time.Duration(o.spent) * max(asked, 1) * tuning.OutcomesQuestion
}

// Run counts the types that had a failure, until ctx is done. So the failures of a night are known in the
// morning. A failed read is repeated in the next round.
func (o *Outcomes) Run(ctx context.Context) {
	for {
		for _, businessType := range o.failing(ctx) {
			o.refresh(o.entryFor(businessType))
		}
		select {
		case <-time.After(tuning.OutcomesRound):
		case <-ctx.Done():
			return
		}
	}
}
