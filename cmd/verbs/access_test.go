package verbs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/auth"
)

// A new key is printed once with its entry, without a call.
func TestNewKey(t *testing.T) {
	exit, out, complaint := run(t, false, "keys", "new", "shop", "--role", "viewer", "--types", "order-*,invoice", "--types", "a", "--payloads")
	require.Equal(t, program.ExitDone, exit, complaint)
	require.Regexp(t, `^key:   wck_\S{43}\nentry: shop:[0-9a-f]{64}:viewer\+payloads:order-\*\+invoice\+a\n$`, out)
	require.Contains(t, complaint, "not shown again")

	exit, out, _ = run(t, false, "keys", "new", "ops", "--role", "admin", "--json")
	require.Equal(t, program.ExitDone, exit)
	var made madeKey
	require.NoError(t, json.Unmarshal([]byte(out), &made))
	require.True(t, strings.HasSuffix(made.Entry, ":admin:*"), made.Entry)
	key, err := auth.ParseKey(made.Entry)
	require.NoError(t, err)
	p, err := auth.New([]auth.Key{key}).Authenticate(t.Context(), auth.Shown{Authorization: []string{"Bearer " + made.Key}})
	require.NoError(t, err)
	require.Equal(t, "ops", p.Name)
}

func TestNewKeysThatAreRefused(t *testing.T) {
	for _, line := range []string{
		"keys new shop", "keys new --role viewer", "keys new a:b --role viewer", "keys new a,b --role viewer", "keys new shop --role root", "keys new shop --role viewer:order",
		"keys new shop --role viewer --types Order", "keys new shop --role viewer --types order+*",
	} {
		exit, out, complaint := run(t, false, strings.Fields(line)...)
		require.Equal(t, program.ExitUsage, exit, line)
		require.NotEmpty(t, complaint)
		require.NotContains(t, out+complaint, "wck_")
	}
}

// Each role of a caller is a line, and a caller without one sees that.
func TestWhoami(t *testing.T) {
	grant := map[string]any{"role": "operator", "payloads": true, "business_types": []string{"order-*", "invoice"}}
	other := map[string]any{"role": "viewer", "payloads": false, "business_types": []string{"*"}}
	url, _ := fixed(t, 200, map[string]any{"name": "ada", "id": "7", "by": "oidc", "grants": []any{grant, other}})
	_, out, _ := run(t, false, "whoami", "--server", url)
	require.Equal(t, strings.Join([]string{
		"NAME  ID  BY    ROLE      PAYLOADS  TYPES", "ada   7   oidc  operator  shown     order-* invoice", "                viewer    left out  *", "",
	}, "\n"), out)
	url, _ = fixed(t, 200, map[string]any{"name": "eve", "by": "certificate", "grants": []any{}})
	_, out, _ = run(t, false, "whoami", "--server", url)
	require.Contains(t, out, "eve   -   certificate  none")
}

func TestListKeys(t *testing.T) {
	url, _ := fixed(t, 200, map[string]any{"keys": []any{map[string]any{"name": "shop", "role": "viewer", "payloads": false, "business_types": []string{"order"}}}})
	_, out, _ := run(t, false, "keys", "list", "--server", url)
	require.Equal(t, "NAME  ROLE    PAYLOADS  TYPES\nshop  viewer  left out  order\n", out)
}
