package auth_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
)

// entry returns an entry of the key file: a name, the digest of a key, and the rest.
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
	all := []string{auth.AllBusinessTypes}
	for text, want := range map[string]auth.Grant{
		"":                            {Role: auth.Admin, Payloads: true, Types: all},
		":admin":                      {Role: auth.Admin, Payloads: true, Types: all},
		":operator":                   {Role: auth.Operator, Payloads: true, Types: all},
		":operator:*":                 {Role: auth.Operator, Payloads: true, Types: all},
		":operator:order-close":       {Role: auth.Operator, Payloads: true, Types: []string{"order-close"}},
		":operator:order+invoice.2":   {Role: auth.Operator, Payloads: true, Types: []string{"order", "invoice.2"}},
		":operator:order-*+invoice":   {Role: auth.Operator, Payloads: true, Types: []string{"order-*", "invoice"}},
		":operator+no-payloads:order": {Role: auth.Operator, Types: []string{"order"}},
		":viewer":                     {Role: auth.Viewer, Types: all},
		":viewer:order":               {Role: auth.Viewer, Types: []string{"order"}},
		":viewer+payloads:order":      {Role: auth.Viewer, Payloads: true, Types: []string{"order"}},
	} {
		key := keyOf(t, " "+entry("night shift", "k", text)+"\n")
		require.Equal(t, auth.Principal{Name: "night shift", By: auth.ByKey, Grants: []auth.Grant{want}}, key.Principal, text)
		require.Equal(t, sha256.Sum256([]byte("k")), key.SHA256, text)
		require.Equal(t, key, keyOf(t, key.Entry()), "an entry is written as it is read")
	}
	require.Equal(t, keyOf(t, entry("ops", "k", "")), keyOf(t, "ops:"+strings.ToUpper(entry("", "k", "")[1:])), "hexadecimal digits have any case")
}

// Invalid entries are refused, and a possible key is not repeated.
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
		entry("ops", "", ""):                    "an empty text",
		"ops:" + digest + ":":                   "a role",
		"ops:" + digest + ":none":               "a role",
		"ops:" + digest + ":Operator":           "a role",
		"ops:" + digest + ":operator+":          "a role",
		"ops:" + digest + ":operator+viewer":    "a role",
		"ops:" + digest + ":payloads":           "a role",
		"ops:" + digest + ":viewer+payloads+no-payloads": "a role",
		"ops:" + digest + ":operator:":                   "business types are",
		"ops:" + digest + ":operator:order+":             "business types are",
		"ops:" + digest + ":operator:order+*":            "business types are",
		"ops:" + digest + ":operator:order*-":            "business types are",
		"ops:" + digest + ":operator:order-**":           "business types are",
		"ops:" + digest + ":operator:Order":              "business types are",
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
			principal, err := c.by.Authenticate(t.Context(), auth.Shown{Authorization: c.sent})
			require.ErrorIs(t, err, c.err)
			if c.err != nil {
				require.Nil(t, principal)
				return
			}
			require.Equal(t, c.want, principal.Name)
			require.True(t, principal.MaySomewhere(auth.Operator))
		})
	}
}

// The log is told what was refused, and why. It never gets the credential.
func TestWhyACallerIsNotKnown(t *testing.T) {
	t.Parallel()
	certificate := func(name string, ends time.Duration) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(ends)}
	}
	keyed := auth.New([]auth.Key{keyOf(t, entry("ops", "a", ""))})
	for want, shown := range map[string]auth.Shown{
		"no credential":                      {},
		"not Bearer and a key or token":      {Authorization: []string{"Basic hunter2"}},
		"an API key that is not known":       {Authorization: []string{"Bearer hunter2"}},
		"its certificate has expired":        {Certificate: certificate("shop", -time.Hour)},
		"common name of its certificate":     {Certificate: certificate("", time.Hour)},
		"an API key that is not known, also": {Authorization: []string{"Bearer hunter2"}, Certificate: certificate("shop", time.Hour)},
	} {
		_, err := keyed.Authenticate(t.Context(), shown)
		require.ErrorIs(t, err, auth.ErrUnknown, want)
		require.ErrorContains(t, err, strings.TrimSuffix(want, ", also"))
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := keyed.Authenticate(t.Context(), auth.Shown{Certificate: certificate("shop", time.Hour)})
	require.NoError(t, err, "the control")
}

func TestWhatAPrincipalMay(t *testing.T) {
	t.Parallel()
	p := auth.Principal{Grants: []auth.Grant{
		{Role: auth.Viewer, Types: []string{auth.AllBusinessTypes}},
		{Role: auth.Operator, Payloads: true, Types: []string{"order", "invoice-*"}},
		{Role: auth.Admin, Types: []string{"invoice-eu"}},
	}}
	for businessType, want := range map[string]struct {
		role     auth.Role
		payloads bool
	}{
		"":            {auth.Viewer, false},
		"*":           {auth.Viewer, false},
		"other":       {auth.Viewer, false},
		"orde":        {auth.Viewer, false},
		"order-close": {auth.Viewer, false},
		"order":       {auth.Operator, true},
		"invoice":     {auth.Viewer, false},
		"invoice-":    {auth.Operator, true},
		"invoice-us":  {auth.Operator, true},
		"invoice-eu":  {auth.Admin, true},
	} {
		require.Equal(t, want.role, p.Role(businessType), businessType)
		require.Equal(t, want.payloads, p.SeesPayloads(businessType), businessType)
		for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Admin} {
			require.Equal(t, role <= want.role, p.May(role, businessType), "%s %s", businessType, role)
			require.True(t, p.MaySomewhere(role))
		}
	}
	shop := keyOf(t, entry("shop", "b", ":operator:order-*")).Principal
	require.False(t, shop.May(auth.Viewer, ""), "a beginning is not everything")
	require.False(t, shop.May(auth.Viewer, "order"))
	require.True(t, shop.May(auth.Viewer, "order-close"))
	require.False(t, shop.MaySomewhere(auth.Admin))
}

// An unauthenticated caller may do nothing.
func TestTheZeroPrincipalMayDoNothing(t *testing.T) {
	t.Parallel()
	nobody := auth.From(context.Background())
	require.Equal(t, auth.Principal{}, nobody)
	for _, p := range []auth.Principal{nobody, {Grants: []auth.Grant{{Types: []string{auth.AllBusinessTypes}}}}} {
		for _, businessType := range []string{"", "order"} {
			require.False(t, p.May(auth.NoRole, businessType), "no role is no right")
			require.False(t, p.May(auth.Viewer, businessType))
			require.False(t, p.SeesPayloads(businessType))
		}
		require.False(t, p.MaySomewhere(auth.NoRole))
		require.False(t, p.MaySomewhere(auth.Viewer))
	}
	somebody := auth.Principal{Name: "ops"}
	require.Equal(t, somebody, auth.From(auth.With(context.Background(), &somebody)))
}

// For any text of the key file, an entry is refused without repeating it, or it names a
// principal with existing rights.
func FuzzParseKey(f *testing.F) {
	f.Add(entry("ops", "k", ""))
	f.Add(entry("shop", "k", ":operator:order+invoice"))
	f.Add(entry("shop", "", ":viewer+payloads:order-*"))
	f.Add("a:b:c:d:e")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := auth.ParseKey(text)
		if err != nil {
			require.Equal(t, auth.Key{}, key, "what is refused gives no rights")
			return
		}
		p := key.Principal
		require.NotEmpty(t, p.Name)
		require.Len(t, p.Grants, 1)
		require.True(t, p.MaySomewhere(auth.Viewer))
		require.NotEmpty(t, p.Grants[0].Types)
		for _, pattern := range p.Grants[0].Types {
			require.True(t, p.May(auth.Viewer, "") || wire.CheckBusinessType(strings.TrimSuffix(pattern, "*")) == nil, pattern)
		}
		again, err := auth.ParseKey(key.Entry())
		require.NoError(t, err)
		require.Equal(t, key, again)
	})
}

func TestMappings(t *testing.T) {
	t.Parallel()
	mapping := func(text string) auth.Mapping {
		found, err := auth.ParseMapping(text)
		require.NoError(t, err, text)
		return found
	}
	ops, shop := mapping(" ops=admin"), mapping("CN=shop=viewer+payloads:order-*")
	require.Equal(t, auth.Mapping{Name: "ops", Grant: auth.Grant{Role: auth.Admin, Payloads: true, Types: []string{"*"}}}, ops)
	require.Equal(t, auth.Mapping{Name: "CN=shop", Grant: auth.Grant{Role: auth.Viewer, Payloads: true, Types: []string{"order-*"}}}, shop)
	all := auth.Mappings{ops, shop, mapping("ops=operator:x")}
	require.Equal(t, []auth.Grant{all[0].Grant, all[2].Grant}, all.Grants("a", "ops", "ops"), "a name may have several roles, and each once")
	require.Empty(t, all.Grants("", "OPS", "shop"))
	require.Empty(t, all.Grants())
	for text, want := range map[string]string{
		"": "name=role:types", "ops": "name=role:types", "=admin": "name=role:types", "a\x00=admin": "name=role:types", "ops=": "a role", "ops=root": "a role", "ops=viewer:": "business types are",
	} {
		_, err := auth.ParseMapping(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

// A new key is admitted by its entry, with its grant, and by no other entry.
func TestNewKeys(t *testing.T) {
	t.Parallel()
	grant, err := auth.Granting("operator", []string{"order-*", "invoice"}, new(false))
	require.NoError(t, err)
	secret, key, err := auth.NewKey("shop", grant)
	require.NoError(t, err)
	require.Regexp(t, `^wck_[A-Za-z0-9_-]{43}$`, secret)
	require.Regexp(t, `^shop:[0-9a-f]{64}:operator\+no-payloads:order-\*\+invoice$`, key.Entry())
	require.NotContains(t, key.Entry(), secret)
	p, err := auth.New([]auth.Key{keyOf(t, key.Entry())}).Authenticate(t.Context(), auth.Shown{Authorization: []string{"Bearer " + secret}})
	require.NoError(t, err)
	require.Equal(t, []auth.Grant{grant}, p.Grants)
	other, _, err := auth.NewKey("shop", grant)
	require.NoError(t, err)
	require.NotEqual(t, secret, other)

	all, err := auth.Granting("viewer", nil, new(true))
	require.NoError(t, err)
	require.Equal(t, auth.Grant{Role: auth.Viewer, Payloads: true, Types: []string{auth.AllBusinessTypes}}, all)
	for _, wrong := range [][]string{{"root"}, {""}, {"viewer:order"}, {"viewer+payloads+payloads"}, {"viewer", ""}, {"viewer", "Order"}, {"viewer", "a:b"}} {
		_, err := auth.Granting(wrong[0], wrong[1:], nil)
		require.Error(t, err, wrong)
	}
	for _, name := range []string{"", "a:b", "a,b", "a b", "a\nb", strings.Repeat("a", 129)} {
		secret, _, err := auth.NewKey(name, grant)
		require.Error(t, err, "%q", name)
		require.Empty(t, secret)
	}
}

// A long call ends when the caller must authenticate again.
func TestUntil(t *testing.T) {
	t.Parallel()
	ends := time.Now().Add(time.Hour)
	ctx, cancel := auth.Until(auth.With(t.Context(), &auth.Principal{Ends: ends}))
	defer cancel()
	deadline, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, ends, deadline)
	past, stop := auth.Until(auth.With(t.Context(), &auth.Principal{Ends: time.Now().Add(-time.Hour)}))
	defer stop()
	require.ErrorIs(t, past.Err(), context.DeadlineExceeded)
	ever, leave := auth.Until(auth.With(t.Context(), &auth.Principal{}))
	_, ok = ever.Deadline()
	require.False(t, ok)
	leave()
	require.ErrorIs(t, ever.Err(), context.Canceled)
}

// The page on security has a row for each role.
func TestThePageOnRoles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	for _, role := range auth.RoleNames() {
		require.Contains(t, string(page), "\n| `"+role+"` | ")
	}
}
