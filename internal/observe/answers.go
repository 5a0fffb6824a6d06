package observe

import (
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/internal/tuning"
)

// answers caches the answers to questions for a moment. Callers with the same question at once share one answer.
type answers struct {
	now    func() time.Time
	asking singleflight.Group

	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	at       time.Time
	lateness []outcomes.Lateness
}

// answer returns the answer to a question. ask gets it where it is not known. Errors are not kept.
func (a *answers) answer(question string, ask func() ([]outcomes.Lateness, error)) ([]outcomes.Lateness, error) {
	if fresh, ok := a.fresh(question); ok {
		return slices.Clone(fresh), nil
	}
	answered, err, _ := a.asking.Do(question, func() (any, error) {
		if fresh, ok := a.fresh(question); ok { // answered since
			return fresh, nil
		}
		lateness, err := ask()
		if err == nil {
			a.put(question, lateness)
		}
		return lateness, err
	})
	lateness, _ := answered.([]outcomes.Lateness)
	return slices.Clone(lateness), err
}

func (a *answers) fresh(question string) ([]outcomes.Lateness, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, ok := a.known[question]
	return known.lateness, ok && a.now().Sub(known.at) < tuning.PrometheusTrusted
}

// put keeps an answer, and forgets those that are old.
func (a *answers) put(question string, lateness []outcomes.Lateness) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	maps.DeleteFunc(a.known, func(_ string, one answer) bool { return now.Sub(one.at) >= tuning.PrometheusTrusted })
	a.known[question] = answer{now, lateness}
}
