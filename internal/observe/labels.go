package observe

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
)

// other is the label of whatever has none of its own. Every label has a closed or
// bounded set of values: a label of a caller's choosing would let anybody fill the
// memory, since a series is never given up.
const other = "other"

// methods are the ones that an API request may have; a caller may invent more.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// Method is the label of an HTTP method.
func Method(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return other
}

// route is the label of a route's template, which a path that leads nowhere does not
// have.
func route(template string) string {
	if template == "" {
		return other
	}
	return template
}

// labels knows which business types have a label of their own: those with a policy,
// the first maxTypes that were seen.
type labels struct {
	// mu is held for reading while a series is written, so that the series of a type
	// that is let go cannot come back.
	mu    sync.RWMutex
	types map[string]bool
}

// of is the label of a business type. The caller holds mu.
func (l *labels) of(businessType string) string {
	if l.types[businessType] {
		return businessType
	}
	return other
}

// admit gives a business type that has a policy a label, for a process that sees no list of
// them: a gateway.
func (l *labels) admit(businessType string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.types[businessType] && len(l.types) < tuning.LabelledTypes {
		if l.types == nil {
			l.types = map[string]bool{}
		}
		l.types[businessType] = true
	}
}

// renew takes the types that have a policy now, lets the rest go, and returns what it
// let go. Types that have a label keep it before new ones get one. The caller holds
// mu for writing.
func (l *labels) renew(policies []policy.Policy) (gone []string) {
	withPolicy := make(map[string]bool, len(policies))
	for _, policy := range policies {
		withPolicy[policy.BusinessType] = true
	}
	next := make(map[string]bool, min(len(withPolicy), tuning.LabelledTypes))
	for businessType := range l.types {
		if withPolicy[businessType] {
			next[businessType] = true
		} else {
			gone = append(gone, businessType)
		}
	}
	for _, businessType := range slices.Sorted(maps.Keys(withPolicy)) {
		if len(next) >= tuning.LabelledTypes {
			break
		}
		next[businessType] = true
	}
	l.types = next
	return gone
}

// bounded is the handler of the SDK's metrics, each of whose labels has the values that
// came first: they come from Temporal, where the names of queues hold business types and
// whoever may start workflows chooses the names of their types.
type bounded struct {
	client.MetricsHandler
	seen *seen
}

// WithTags implements [client.MetricsHandler].
func (b bounded) WithTags(tags map[string]string) client.MetricsHandler {
	given := tags
	for tag, value := range given {
		if label := b.seen.bound(tag, value); label != value {
			tags = maps.Clone(tags)
			tags[tag] = label
		}
	}
	return bounded{MetricsHandler: b.MetricsHandler.WithTags(tags), seen: b.seen}
}

// Unwrap is how the SDK finds the handler beneath.
func (b bounded) Unwrap() client.MetricsHandler { return b.MetricsHandler }

// seen holds the values of each label.
type seen struct {
	mu     sync.Mutex
	values map[string]map[string]bool
}

func (s *seen) bound(tag, value string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.values[tag]
	if known == nil {
		known = map[string]bool{}
		s.values[tag] = known
	}
	if known[value] {
		return value
	}
	if len(known) >= tuning.LabelValues {
		return other
	}
	known[value] = true
	return value
}
