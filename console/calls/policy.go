package calls

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/words"
)

// Policy is what the API shows of how a business type is called back.
type Policy struct {
	BusinessType string      `json:"business_type"`
	Version      int         `json:"version"`
	Callback     destination `json:"callback"`
	Fallback     destination `json:"fallback"`
	Retry        struct {
		Steps       []string `json:"steps"`
		Initial     string   `json:"initial"`
		Multiplier  float64  `json:"multiplier"`
		MaxInterval string   `json:"max_interval"`
		MaxAttempts int      `json:"max_attempts"`
	} `json:"retry"`
	ExpiresAfter string    `json:"expires_after"`
	Priority     int       `json:"priority"`
	Paused       bool      `json:"paused"`
	PausedBy     string    `json:"paused_by"`
	PausedAt     time.Time `json:"paused_at"`
	BackPressure *struct {
		Until time.Time `json:"until"`
		Since time.Time `json:"since"`
	} `json:"back_pressure"`
	Limits struct {
		CallbacksPerSecond *float64 `json:"callbacks_per_second"`
		InFlight           int      `json:"in_flight"`
	} `json:"limits"`
	SecretsChangedAt time.Time `json:"secrets_changed_at"`
	RetiredSecrets   []struct {
		Until time.Time `json:"until"`
	} `json:"retired_secrets"`
}

// destination is where callbacks go.
type destination struct {
	URL        string `json:"url"`
	Broker     string `json:"broker"`
	Exchange   string `json:"exchange"`
	RoutingKey string `json:"routing_key"`
	Stream     bool   `json:"stream"`
}

// Address is a destination for people; "" where there is none, or receivers connect.
func (d destination) Address() string {
	if d.URL != "" || d.Broker == "" {
		return d.URL
	}
	return strings.Join([]string{d.Broker, d.Exchange, d.RoutingKey}, " / ")
}

// Attempts is how many attempts a delivery has at most.
func (p Policy) Attempts() int {
	if p.Retry.MaxAttempts > 0 {
		return p.Retry.MaxAttempts
	}
	return len(p.Retry.Steps) + 1
}

// Ladder is how long all waits between attempts last together, without their jitter.
func (p Policy) Ladder() (sum time.Duration) {
	for _, step := range p.Retry.Steps {
		sum += span(step)
	}
	wait, most := float64(span(p.Retry.Initial)), float64(span(p.Retry.MaxInterval))
	for range p.Retry.MaxAttempts - 1 {
		sum += time.Duration(min(wait, most))
		wait *= p.Retry.Multiplier
	}
	return sum
}

// span is a duration of the API; none for a text that is none.
func span(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

// Rate is how many callbacks a second are made at most; "" for no limit.
func (p Policy) Rate() string {
	if p.Limits.CallbacksPerSecond == nil {
		return ""
	}
	return words.Rate(*p.Limits.CallbacksPerSecond)
}

// PressedAt reports whether the receiver has asked for patience that lasts at a time.
func (p Policy) PressedAt(at time.Time) bool {
	return p.BackPressure != nil && p.BackPressure.Until.After(at)
}

// PolicyVersion is one change of a policy.
type PolicyVersion struct {
	Version   int            `json:"version"`
	ChangedAt time.Time      `json:"changed_at"`
	ChangedBy string         `json:"changed_by"`
	Who       *Actor         `json:"who"`
	Deleted   bool           `json:"deleted"`
	Changes   []Difference   `json:"changes"`
	Policy    jsontext.Value `json:"policy"`
}

// Difference is one value of a policy that a change changes.
type Difference struct {
	Pointer string         `json:"pointer"`
	From    jsontext.Value `json:"from"`
	To      jsontext.Value `json:"to"`
}

// Follows reports whether the change came after a version.
func (p PolicyVersion) Follows(version int) bool {
	return p.Version > version || p.Deleted && p.Version == version
}

// Entry is the change as a story has it.
func (p PolicyVersion) Entry() Entry {
	e := Entry{At: p.ChangedAt, Event: eventChanged, Who: p.Who}
	if p.Who == nil {
		e.Who = &Actor{Name: p.ChangedBy}
	}
	if p.Deleted {
		e.Event = eventDeleted
	}
	for _, one := range p.Changes {
		e.Changes = append(e.Changes, FieldChange{Field: one.Pointer, To: one.To})
	}
	return e
}
