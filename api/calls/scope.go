package calls

import (
	"time"

	"github.com/wakecall/wakecall/internal/auth"
)

// Scope is who may make a call. Every route declares one; the zero value is none.
type Scope struct {
	// Role is the least that the caller must have for the business type of the call.
	Role auth.Role
	// Type is how the business type of the call is found.
	Type TypeSource
	// Payloads is what the answer shows of payloads, and of bodies of answers.
	Payloads PayloadRule
	// Receives reports whether the caller is a receiver that connects. Its answers are in the
	// record of attempts, like answers to callbacks, and not in the audit.
	Receives bool
	// accepts are the parts of a request that the call understands. It refuses the others.
	accepts Part
	// Examples are values that parameters of the query take in this call only.
	Examples map[string]string
	// Moments are such values that are moments, by how far they lie ahead; below zero, in the past.
	Moments map[string]time.Duration
	// changes reports whether the call changes something, so that it is recorded. Its method
	// says so.
	changes bool
	// reads reports whether the call changes nothing.
	reads bool
}

// Reads reports whether the call changes nothing, however it ends.
func (s Scope) Reads() bool { return s.reads }

// Accepting is the scope of a call that understands these parts.
func (s Scope) Accepting(understood Part) Scope {
	s.accepts |= understood
	return s
}

// Showing is the scope of a call whose refused parameters show these examples.
func (s Scope) Showing(examples map[string]string) Scope {
	s.Examples = examples
	return s
}

// ShowingMoments is the scope of a call whose refused parameters show these moments.
func (s Scope) ShowingMoments(moments map[string]time.Duration) Scope {
	s.Moments = moments
	return s
}

// TypeSource is how the business type of a call is found.
type TypeSource uint8

const (
	// InPath is a type in the path. It is judged before the handler is called.
	InPath TypeSource = iota + 1
	// Named is a type that the body or the query names, or none for all types. The handler asks
	// [Permit].
	Named
	// ByID is the type of what the id in the path names. For a caller who may not see the type
	// there is no such thing.
	ByID
	// Filtered leaves out of the answer what the caller may not see. The handler asks [Sees].
	Filtered
	// Untyped is a call about no business type.
	Untyped
	// AllTypes is a call about all business types together.
	AllTypes
)

// PayloadRule is what an answer shows of payloads.
type PayloadRule uint8

const (
	// NoPayloads is an answer that has none.
	NoPayloads PayloadRule = iota
	// Payloads is an answer with payloads, or with bodies of answers. They are left out for a
	// caller without the right.
	Payloads
	// OnlyPayloads is a call that is of no use without payloads. It is refused without the right.
	OnlyPayloads
)

// Viewing is the scope of a call that shows something.
func Viewing(source TypeSource, payloads PayloadRule) Scope {
	return Scope{Role: auth.Viewer, Type: source, Payloads: payloads}
}

// Operating is the scope of a call that changes timers, dispatches and jobs.
func Operating(source TypeSource, payloads PayloadRule) Scope {
	return Scope{Role: auth.Operator, Type: source, Payloads: payloads}
}

// Administering is the scope of a call that changes policies.
func Administering(source TypeSource) Scope {
	return Scope{Role: auth.Admin, Type: source}
}

// Receiving is the scope of a call of a receiver that connects.
func Receiving(payloads PayloadRule) Scope {
	return Scope{Role: auth.Operator, Type: InPath, Payloads: payloads, Receives: true}
}
