package seal_test

import (
	"encoding/base64"
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
	for _, damaged := range []string{"", "secret", "sealed:v1:", "sealed:v1:AAAA", "sealed:v2:", "sealed:v2:x:", one[:len(one)-2] + "A="} {
		_, err := box.Open(damaged)
		require.Error(t, err, damaged)
	}
	_, err = stranger.Open(one)
	require.Error(t, err)
}

// A value sealed for one purpose does not open for another.
func TestPurposes(t *testing.T) {
	t.Parallel()
	box, err := seal.New(seal.NewKey())
	require.NoError(t, err)
	plain, err := box.Seal("value")
	require.NoError(t, err)
	session, err := box.SealAs("session", "value")
	require.NoError(t, err)
	for _, c := range []struct {
		purpose, sealed string
		opens           bool
	}{{"", plain, true}, {"session", session, true}, {"session", plain, false}, {"", session, false}, {"other", session, false}} {
		opened, err := box.OpenAs(c.purpose, c.sealed)
		require.Equal(t, c.opens, err == nil, c.purpose)
		require.Equal(t, c.opens, opened == "value", c.purpose)
	}
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

// A rotation: the new first key seals, and both open.
func TestSeveralKeys(t *testing.T) {
	t.Parallel()
	older, newer := seal.NewKey(), seal.NewKey()
	box := func(keys string) *seal.Box {
		b, err := seal.New(keys)
		require.NoError(t, err)
		return b
	}
	before, err := box(older).Seal("before")
	require.NoError(t, err)
	both := box(newer + ", " + older)
	opened, err := both.Open(before)
	require.NoError(t, err)
	require.Equal(t, "before", opened)
	after, err := both.Seal("after")
	require.NoError(t, err)
	opened, err = box(newer).Open(after)
	require.NoError(t, err)
	require.Equal(t, "after", opened)
	_, err = box(older).Open(after)
	require.ErrorContains(t, err, "not configured")
	_, err = seal.New(newer + "," + "AAAA")
	require.Error(t, err)
}

// A value of the first scheme, which names no key, under a key of zeros.
func TestValuesWithoutKeyIDStillOpen(t *testing.T) {
	t.Parallel()
	const sealed = "sealed:v1:8wJbdzn1TDUqktP++wBVudK9MPG9memYF1iJoDXP5uFL5ZxwShIyIHI="
	zeros := base64.StdEncoding.EncodeToString(make([]byte, seal.KeySize))
	for _, keys := range []string{zeros, seal.NewKey() + "," + zeros} {
		box, err := seal.New(keys)
		require.NoError(t, err)
		opened, err := box.Open(sealed)
		require.NoError(t, err)
		require.Equal(t, "from long ago", opened)
	}
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

// Only an owner of a key can make a code, for one message. A rotated key still verifies its own.
func TestCodes(t *testing.T) {
	t.Parallel()
	old := seal.NewKey()
	before, err := seal.New(old)
	require.NoError(t, err)
	code, err := before.Code("message")
	require.NoError(t, err)
	after, err := seal.New(seal.NewKey() + "," + old)
	require.NoError(t, err)
	require.True(t, after.Made("message", code))
	require.False(t, after.Made("another", code))
	require.False(t, after.Made("message", code[1:]))
	keyless, err := seal.New("")
	require.NoError(t, err)
	require.False(t, keyless.Made("message", code))
	_, err = keyless.Code("message")
	require.ErrorIs(t, err, seal.ErrNoKey)
}
