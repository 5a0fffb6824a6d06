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

// other is the shared label of values without their own. Every label has a bounded set of
// values. With a label of their choice, callers could fill the memory, since a series is never
// freed.
const other = "other"

// methods are the methods of API requests; a caller may invent others.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// Method returns the label of an HTTP method.
func Method(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return other
}

// route returns the label of a route's template; a path without a route has none.
func route(template string) string {
	if template == "" {
		return other
	}
	return template
}

// labels are the business types with their own label: those with a policy, the first
// tuning.LabelledTypes of them.
type labels struct {
	// mu is held for reading while a series is written, so that the series of a dropped type
	// cannot come back.
	mu    sync.RWMutex
	types map[string]bool
}

// label returns the label of a business type. The caller holds mu.
func (l *labels) label(businessType string) string {
	if l.types[businessType] {
		return businessType
	}
	return other
}

// admit gives a label to a business type with a policy. It is for gateways, because they do not
// list policies.
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

// renew sets the types that have a policy now, and returns the dropped ones. Types with a label
// have precedence over new ones. The caller holds mu for writing.
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

// bounded is the handler of the SDK's metrics with a bound on the values of each label: the
// first ones count. The values come from Temporal. Names of queues contain business types, and
// other clients choose the names of workflow types.
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

// Unwrap lets the SDK find the inner handler.
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
