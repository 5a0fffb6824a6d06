package oidc

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/internal/auth"
)

// claims are the claims of a token, by name.
type claims map[string]jsontext.Value

const claimEmail = "email"

var errNameless = errors.New("the token names no subject")

// principal returns the owner of the token. Its name is the most readable one that is valid. Its
// id is the subject, which a provider never assigns twice.
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

// maxSubject is the longest subject, in bytes (OpenID Connect Core 1.0, section 2).
const maxSubject = 255

func printable(subject string) bool {
	return subject != "" && len(subject) <= maxSubject && !strings.ContainsFunc(subject, func(r rune) bool { return !unicode.IsPrint(r) })
}

// email returns the address if the provider has verified it. Otherwise anyone could claim it.
func (c claims) email() string {
	var verified bool
	if json.Unmarshal(c["email_verified"], &verified) != nil || !verified {
		return ""
	}
	return c.text(claimEmail)
}

func (c claims) text(name string) (text string) {
	_ = json.Unmarshal(c[name], &text) // another type counts as empty
	return text
}

// groups returns the groups in a claim, a text or a list of texts. If no claim has a name with
// dots, the name is a path into objects: realm_access.roles.
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
