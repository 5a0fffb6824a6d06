package oidc

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/internal/auth"
)

// claims are what a token says, by name.
type claims map[string]jsontext.Value

const claimEmail = "email"

var errNameless = errors.New("the token names nobody")

// principal is who has the token. Its name is the first of those that people know each other
// by; its id is the subject, which no provider gives to two.
func (c claims) principal(groups string, roles auth.Mappings) (*auth.Principal, error) {
	subject := c.text("sub")
	if !printable(subject) {
		return nil, errNameless
	}
	p := &auth.Principal{ID: subject, By: auth.ByOIDC, Grants: roles.Grants(c.groups(groups)...)}
	for _, name := range []string{c.text("preferred_username"), c.email(), subject} {
		if auth.CheckName(name) == nil {
			p.Name = name
			return p, nil
		}
	}
	return nil, errNameless
}

// maxSubject is how long a subject may be (OpenID Connect Core 1.0, section 2).
const maxSubject = 255

func printable(subject string) bool {
	return subject != "" && len(subject) <= maxSubject && !strings.ContainsFunc(subject, func(r rune) bool { return !unicode.IsPrint(r) })
}

// email is the address, if the provider vouches for it: anybody may claim another's.
func (c claims) email() string {
	var verified bool
	if json.Unmarshal(c["email_verified"], &verified) != nil || !verified {
		return ""
	}
	return c.text(claimEmail)
}

func (c claims) text(name string) (text string) {
	_ = json.Unmarshal(c[name], &text) // what is no text is none
	return text
}

// groups are those in the claim of a name, one text or a list of them. A name with dots that
// no claim has leads into objects: realm_access.roles.
func (c claims) groups(name string) []string {
	if name == claimEmail {
		return []string{c.email()}
	}
	value, ok := c[name]
	if !ok {
		value = c.below(name)
	}
	var several []string
	if json.Unmarshal(value, &several) == nil {
		return several
	}
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}
	}
	return nil
}

func (c claims) below(path string) jsontext.Value {
	first, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return c[first]
	}
	var inner claims
	if json.Unmarshal(c[first], &inner) != nil {
		return nil
	}
	return inner.below(rest)
}
