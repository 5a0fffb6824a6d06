package seal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/seal"
)

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	box, err := seal.New(seal.NewKey())
	require.NoError(t, err)
	one, err := box.Seal("secret")
	require.NoError(t, err)
	two, err := box.Seal("secret")
	require.NoError(t, err)
	require.NotEqual(t, one, two, "the nonce is random")
	require.NotContains(t, one, "secret")
	opened, err := box.Open(one)
	require.NoError(t, err)
	require.Equal(t, "secret", opened)

	stranger, err := seal.New(seal.NewKey())
	require.NoError(t, err)
	for _, damaged := range []string{"", "secret", "sealed:v1:", "sealed:v1:AAAA", one[:len(one)-2] + "A="} {
		_, err := box.Open(damaged)
		require.Error(t, err, damaged)
	}
	_, err = stranger.Open(one)
	require.Error(t, err)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"x", "AAAA", "not base64!"} {
		_, err := seal.New(bad)
		require.Error(t, err, bad)
	}
	keyless, err := seal.New("")
	require.NoError(t, err)
	_, err = keyless.Seal("secret")
	require.ErrorIs(t, err, seal.ErrNoKey)
	_, err = keyless.Open("secret")
	require.ErrorIs(t, err, seal.ErrNoKey)
}

func FuzzOpen(f *testing.F) {
	box, err := seal.New(seal.NewKey())
	require.NoError(f, err)
	sealed, err := box.Seal("secret")
	require.NoError(f, err)
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, text string) {
		if opened, err := box.Open(text); err == nil && opened != "secret" {
			t.Fatalf("%q opens as %q", text, opened)
		}
	})
}
