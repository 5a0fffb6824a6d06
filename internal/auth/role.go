package auth

import (
	"fmt"
	"slices"
)

// Role is a principal's role. Each role includes the rights of those before it.
type Role uint8

// The roles. The zero value may do nothing.
const (
	NoRole Role = iota
	// Viewer sees timers, jobs, dispatches and policies.
	Viewer
	// Operator books, changes and cancels timers, runs jobs and dispatches, and pauses
	// business types.
	Operator
	// Admin changes policies, pauses everything, and sees keys and the audit.
	Admin
)

var roleNames = []string{Viewer: "viewer", Operator: "operator", Admin: "admin"}

// RoleNames returns the names of the roles, from the least powerful.
func RoleNames() []string { return slices.Clone(roleNames[Viewer:]) }

// ParseRole reads the name of a role.
func ParseRole(name string) (Role, error) {
	i := slices.Index(roleNames, name)
	if i < int(Viewer) {
		return NoRole, errRole
	}
	return Role(i), nil
}

func (r Role) String() string {
	if r == NoRole || int(r) >= len(roleNames) {
		return "none"
	}
	return roleNames[r]
}

// MarshalText implements [encoding.TextMarshaler].
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}

var errRole = fmt.Errorf("a role is one of %v, optionally followed by +%s or +%s", RoleNames(), withPayloads, withoutPayloads)
