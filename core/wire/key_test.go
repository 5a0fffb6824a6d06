package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

func TestKeyCheck(t *testing.T) {
	t.Parallel()
	good := []wire.Key{
		{"order-close", "1"},
		{"a", "A-z0.9_:~@=+-"},
		{strings.Repeat("a", wire.MaxBusinessTypeLen), strings.Repeat("x", wire.MaxBusinessIDLen)},
	}
	for _, key := range good {
		require.Empty(t, key.Check(), "%s", key)
		parsed, ok := wire.ParseKey(key.String())
		require.True(t, ok)
		require.Equal(t, key, parsed)
		require.LessOrEqual(t, len(key.String()), 255, "Temporal's SQL columns end here")
	}
	badTypes := []string{"", "A", "a b", "../x", "-a", "é", strings.Repeat("a", 64), "a\n"}
	for _, name := range badTypes {
		require.NotEmpty(t, wire.Key{BusinessType: name, BusinessID: "1"}.Check(), "%q", name)
	}
	badIDs := []string{"", " ", " a", "a b", "é", "a/b", "a%2F", "\x00", "a\n", "\u202e", strings.Repeat("x", 129), "a'b", `a"b`}
	for _, id := range badIDs {
		require.NotEmpty(t, wire.Key{BusinessType: "a", BusinessID: id}.Check(), "%q", id)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("order-close/1")
	f.Add("/")
	f.Add("policy:a")
	f.Fuzz(func(t *testing.T, text string) {
		key, ok := wire.ParseKey(text)
		if ok && key.String() != text {
			t.Fatalf("%q reads as %q", text, key)
		}
	})
}
