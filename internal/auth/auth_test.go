package auth_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/timer"
)

// entry is one of the key file: a name, the digest of a key, and what follows.
func entry(name, key, rest string) string {
	digest := sha256.Sum256([]byte(key))
	return name + ":" + hex.EncodeToString(digest[:]) + rest
}

func keyOf(t *testing.T, text string) auth.Key {
	t.Helper()
	key, err := auth.ParseKey(text)
	require.NoError(t, err)
	return key
}

func TestEntriesOfTheKeyFile(t *testing.T) {
	t.Parallel()
	operator, all := []auth.Role{auth.Operator}, []string{auth.AllBusinessTypes}
	for text, want := range map[string]auth.Principal{
		entry("ops", "k", ""):                           {Name: "ops", Roles: operator, BusinessTypes: all},
		" " + entry("ops", "k", "") + "\n":              {Name: "ops", Roles: operator, BusinessTypes: all},
		entry("night shift", "k", ":operator"):          {Name: "night shift", Roles: operator, BusinessTypes: all},
		entry("ops", "k", ":operator:*"):                {Name: "ops", Roles: operator, BusinessTypes: all},
		entry("shop", "k", ":operator:order-close"):     {Name: "shop", Roles: operator, BusinessTypes: []string{"order-close"}},
		entry("shop", "k", ":operator:order+invoice.2"): {Name: "shop", Roles: operator, BusinessTypes: []string{"order", "invoice.2"}},
	} {
		key := keyOf(t, text)
		require.Equal(t, want, key.Principal, text)
		require.Equal(t, sha256.Sum256([]byte("k")), key.SHA256, text)
	}
	require.Equal(t, keyOf(t, entry("ops", "k", "")), keyOf(t, "ops:"+strings.ToUpper(entry("", "k", "")[1:])), "hexadecimal digits have any case")
}

// What is not understood is refused, and what may be a key is not repeated.
func TestEntriesThatAreRefused(t *testing.T) {
	t.Parallel()
	digest := entry("", "k", "")[1:]
	for text, want := range map[string]string{
		"":                                      "an API key is name:sha256-hex",
		"ops":                                   "an API key is name:sha256-hex",
		"ops:" + digest + ":operator:order:x":   "an API key is name:sha256-hex",
		":" + digest:                            "the name",
		"a\x00b:" + digest:                      "the name",
		"\xff:" + digest:                        "the name",
		strings.Repeat("n", 129) + ":" + digest: "the name",
		"ops:":                                  "64 hexadecimal digits",
		"ops:hunter2":                           "64 hexadecimal digits",
		"ops:" + digest[1:]:                     "64 hexadecimal digits",
		"ops:" + digest + "00":                  "64 hexadecimal digits",
		"ops:g" + digest[1:]:                    "64 hexadecimal digits",
		entry("ops", "", ""):                    "no text at all",
		"ops:" + digest + ":":                   "the roles",
		"ops:" + digest + ":admin":              "the roles",
		"ops:" + digest + ":Operator":           "the roles",
		"ops:" + digest + ":operator+":          "the roles",
		"ops:" + digest + ":operator:":          "the business types",
		"ops:" + digest + ":operator:order+":    "the business types",
		"ops:" + digest + ":operator:order+*":   "the business types",
		"ops:" + digest + ":operator:order-*":   "the business types",
		"ops:" + digest + ":operator:Order":     "the business types",
	} {
		_, err := auth.ParseKey(text)
		require.ErrorContains(t, err, want, "%q", text)
		for _, secret := range []string{"hunter2", digest} {
			require.NotContains(t, err.Error(), secret)
		}
	}
}

func TestAKeyBelongsToOneEntry(t *testing.T) {
	t.Parallel()
	ops, rotated, shared := keyOf(t, entry("ops", "a", "")), keyOf(t, entry("ops", "b", "")), keyOf(t, entry("shop", "a", ":operator:order"))
	require.NoError(t, auth.CheckKeys(nil))
	require.NoError(t, auth.CheckKeys([]auth.Key{ops, rotated}), "a name may have several keys while one is replaced")
	require.ErrorContains(t, auth.CheckKeys([]auth.Key{ops, rotated, shared}), "same API key")
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	ops, shop := keyOf(t, entry("ops", "a", "")), keyOf(t, entry("shop", "b", ":operator:order"))
	keyed := auth.New([]auth.Key{ops, shop})
	for name, c := range map[string]struct {
		by   *auth.Authenticator
		sent []string
		want string
		err  error
	}{
		"the first key":                 {keyed, []string{"Bearer a"}, "ops", nil},
		"the last key":                  {keyed, []string{"Bearer b"}, "shop", nil},
		"a scheme in any case":          {keyed, []string{"BEARER   b"}, "shop", nil},
		"no header":                     {keyed, nil, "", auth.ErrUnknown},
		"an empty header":               {keyed, []string{""}, "", auth.ErrUnknown},
		"no key":                        {keyed, []string{"Bearer "}, "", auth.ErrUnknown},
		"another key":                   {keyed, []string{"Bearer c"}, "", auth.ErrUnknown},
		"a key and more":                {keyed, []string{"Bearer a "}, "", auth.ErrUnknown},
		"the digest of a key":           {keyed, []string{"Bearer " + entry("", "a", "")[1:]}, "", auth.ErrUnknown},
		"another scheme":                {keyed, []string{"Basic a"}, "", auth.ErrUnknown},
		"no scheme":                     {keyed, []string{"a"}, "", auth.ErrUnknown},
		"the header twice":              {keyed, []string{"Bearer a", "Bearer a"}, "", auth.ErrRepeated},
		"without keys nobody comes in":  {auth.New(nil), []string{"Bearer a"}, "", auth.ErrUnknown},
		"by the zero value nobody does": {&auth.Authenticator{}, nil, "", auth.ErrUnknown},
		"but anyone, where that is so":  {auth.Anyone(), nil, "anonymous", nil},
		"anyone, with any key":          {auth.Anyone(), []string{"Bearer c"}, "anonymous", nil},
		"anyone, but no header twice":   {auth.Anyone(), []string{"Bearer a", "Bearer b"}, "", auth.ErrRepeated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			principal, err := c.by.Authenticate(c.sent)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, principal.Name)
			require.Equal(t, c.err == nil, principal.Has(auth.Operator))
		})
	}
}

func TestWhatAPrincipalMayUse(t *testing.T) {
	t.Parallel()
	shop := keyOf(t, entry("shop", "b", ":operator:order+invoice")).Principal
	require.True(t, shop.MayUse("order"))
	require.True(t, shop.MayUse("invoice"))
	for _, other := range []string{"", "*", "orde", "order-close", "order+invoice"} {
		require.False(t, shop.MayUse(other), other)
	}
	require.False(t, shop.Everywhere())
	ops := keyOf(t, entry("ops", "b", "")).Principal
	require.True(t, ops.Everywhere())
	require.True(t, ops.MayUse("order"))
}

// Where nobody was authenticated nobody may do anything.
func TestTheZeroPrincipalMayDoNothing(t *testing.T) {
	t.Parallel()
	nobody := auth.From(context.Background())
	require.Equal(t, auth.Principal{}, nobody)
	require.False(t, nobody.Has(auth.Operator))
	require.False(t, nobody.Everywhere())
	require.False(t, nobody.MayUse("order"))
	require.False(t, nobody.MayUse(""))
	somebody := auth.Principal{Name: "ops"}
	require.Equal(t, somebody, auth.From(auth.With(context.Background(), somebody)))
}

// Whatever stands in the key file: an entry is refused without repeating it, or it
// names a principal with rights that exist.
func FuzzParseKey(f *testing.F) {
	f.Add(entry("ops", "k", ""))
	f.Add(entry("shop", "k", ":operator:order+invoice"))
	f.Add(entry("shop", "", ":operator+operator:*"))
	f.Add("a:b:c:d:e")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := auth.ParseKey(text)
		if err != nil {
			require.Equal(t, auth.Key{}, key, "what is refused gives no rights")
			return
		}
		p := key.Principal
		require.NotEmpty(t, p.Name)
		require.True(t, p.Has(auth.Operator))
		require.NotEmpty(t, p.BusinessTypes)
		for _, businessType := range p.BusinessTypes {
			require.True(t, p.Everywhere() || timer.CheckBusinessType(businessType) == nil, businessType)
		}
		roles := make([]string, len(p.Roles))
		for i, role := range p.Roles {
			roles[i] = string(role)
		}
		again, err := auth.ParseKey(strings.Join(slices.Concat(
			[]string{p.Name, hex.EncodeToString(key.SHA256[:])}, []string{strings.Join(roles, "+"), strings.Join(p.BusinessTypes, "+")},
		), ":"))
		require.NoError(t, err)
		require.Equal(t, key, again)
	})
}
