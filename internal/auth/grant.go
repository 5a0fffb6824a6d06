package auth

import (
	"errors"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Grant is a role for some business types.
type Grant struct {
	Role Role
	// Payloads is whether payloads and bodies of answers are shown. It is a right of its
	// own: who may know when need not know what.
	Payloads bool
	// Types are names of business types, beginnings of names followed by *, or
	// [AllBusinessTypes] alone.
	Types []string
}

// AllBusinessTypes stands for every business type, those of the future included.
const AllBusinessTypes = "*"

// What may stand behind a role. Without either, all but viewers see payloads.
const (
	withPayloads    = "payloads"
	withoutPayloads = "no-payloads"
)

var errTypes = errors.New("the business types, with + between them, are names such as order-close or beginnings such as order-*, or " + AllBusinessTypes + " alone")

// ParseGrant reads role, role:types, role+payloads:types or role+no-payloads:types, with +
// between the business types. Without types it is a grant for all of them.
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

// seesPayloads is whether a grant of the role shows payloads unless it says otherwise.
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

// String is the grant as [ParseGrant] reads it.
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

// covers reports whether the grant is for a business type; "" stands for all of them.
func (g Grant) covers(businessType string) bool {
	for _, pattern := range g.Types {
		beginning, open := strings.CutSuffix(pattern, "*")
		if pattern == businessType || open && strings.HasPrefix(businessType, beginning) {
			return true
		}
	}
	return false
}
