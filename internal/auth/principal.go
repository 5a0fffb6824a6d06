package auth

import (
	"context"
	"slices"
)

// Role is what a principal may do.
type Role string

// Operator may make every call for the business types of the principal. It is the one
// role there is.
const Operator Role = "operator"

// roles are the ones that an entry may name.
var roles = []Role{Operator}

// AllBusinessTypes stands for every business type, those of the future included.
const AllBusinessTypes = "*"

// Principal is who calls.
type Principal struct {
	// Name stands in the log and as the author of changes.
	Name  string
	Roles []Role
	// BusinessTypes are the types that the principal may see and change;
	// [AllBusinessTypes] for all.
	BusinessTypes []string
}

// Has reports whether the principal has a role.
func (p Principal) Has(role Role) bool { return slices.Contains(p.Roles, role) }

// Everywhere reports whether the principal may use every business type.
func (p Principal) Everywhere() bool { return slices.Contains(p.BusinessTypes, AllBusinessTypes) }

// MayUse reports whether the principal may use a business type.
func (p Principal) MayUse(businessType string) bool {
	return p.Everywhere() || slices.Contains(p.BusinessTypes, businessType)
}

type contextKey struct{}

// With returns a context in which the principal is who calls.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From returns who calls: the zero principal where nobody was authenticated.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(contextKey{}).(Principal)
	return p
}
