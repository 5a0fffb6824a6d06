// Package events has the types of a membership protocol that Temporal's server names.
package events

// The types that Temporal names.
type (
	Event         interface{}
	EventListener interface{ HandleEvent(Event) }
)
