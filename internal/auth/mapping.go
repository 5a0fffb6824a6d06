package auth

import (
	"errors"
	"strings"
)

// Mapping grants a role to an external name: a group of an identity provider, or the subject of
// a client certificate.
type Mapping struct {
	Name  string
	Grant Grant
}

var errMapping = errors.New("a mapping is name=role:types, such as ops=admin or shop=operator:order-*+invoice")

// ParseMapping reads name=role:types. The text after the last = is for [ParseGrant].
func ParseMapping(text string) (Mapping, error) {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '=')
	if at <= 0 {
		return Mapping{}, errMapping
	}
	name := text[:at]
	if CheckName(name) != nil {
		return Mapping{}, errMapping
	}
	grant, err := ParseGrant(text[at+1:])
	if err != nil {
		return Mapping{}, err
	}
	return Mapping{Name: name, Grant: grant}, nil
}

// Mappings are the configured mappings.
type Mappings []Mapping

// Grants returns the grants of a caller with these names.
func (m Mappings) Grants(names ...string) (grants []Grant) {
	for _, mapping := range m {
		for _, name := range names {
			if name == mapping.Name {
				grants = append(grants, mapping.Grant)
				break
			}
		}
	}
	return grants
}
