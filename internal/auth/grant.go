package auth

import (
	"errors"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Grant is a role for some business types.
type Grant struct {
	Role Role
	// Payloads reports whether payloads and bodies of answers are shown. It is a separate right:
	// a caller that may see times need not see content.
	Payloads bool
	// Types are names of business types, prefixes of names followed by *, or [AllBusinessTypes]
	// alone.
	Types []string
}

// AllBusinessTypes stands for every business type, including future ones.
const AllBusinessTypes = "*"

// The suffixes of a role. Without either, all roles except viewers see payloads.
const (
	withPayloads    = "payloads"
	withoutPayloads = "no-payloads"
)

var errTypes = errors.New("business types are separated by + and are names such as order-close, " +
	"prefixes such as order-*, or " + AllBusinessTypes + " alone")

// ParseGrant reads role, role:types, role+payloads:types or role+no-payloads:types, with +
// between the business types. Without types the grant covers all of them.
func ParseGrant(text string) (Grant, error) {
	rights, types, restricted := strings.Cut(text, ":")
	if !restricted {
		types = AllBusinessTypes
	}
	grant, err := parseRights(rights)
	if err == nil {
		grant.Types, err = parseTypes(types)
	}
	if err != nil {
		return Grant{}, err
	}
	return grant, nil
}

func parseRights(text string) (grant Grant, err error) {
	name, more, ok := strings.Cut(text, "+")
	if grant.Role, err = ParseRole(name); err != nil {
		return Grant{}, err
	}
	grant.Payloads = grant.Role.seesPayloads()
	switch {
	case !ok:
	case more == withPayloads:
		grant.Payloads = true
	case more == withoutPayloads:
		grant.Payloads = false
	default:
		return Grant{}, errRole
	}
	return grant, nil
}

// seesPayloads reports whether the role sees payloads by default.
func (r Role) seesPayloads() bool { return r > Viewer }

func parseTypes(text string) ([]string, error) {
	types := strings.Split(text, "+")
	if len(types) == 1 && types[0] == AllBusinessTypes {
		return types, nil
	}
	for _, pattern := range types {
		if wire.CheckBusinessType(strings.TrimSuffix(pattern, "*")) != nil {
			return nil, errTypes
		}
	}
	return types, nil
}

// String returns the grant in the form of [ParseGrant].
func (g Grant) String() string {
	rights := g.Role.String()
	switch {
	case g.Payloads && !g.Role.seesPayloads():
		rights += "+" + withPayloads
	case !g.Payloads && g.Role.seesPayloads():
		rights += "+" + withoutPayloads
	}
	return rights + ":" + strings.Join(g.Types, "+")
}

// covers reports whether the grant covers a business type; "" stands for all of them.
func (g Grant) covers(businessType string) bool {
	for _, pattern := range g.Types {
		beginning, open := strings.CutSuffix(pattern, "*")
		if pattern == businessType || open && strings.HasPrefix(businessType, beginning) {
			return true
		}
	}
	return false
}
