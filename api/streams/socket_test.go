package streams

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWebSocketKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"dGhlIHNhbXBsZSBub25jZQ==": true, " dGhlIHNhbXBsZSBub25jZQ== ": true,
		"": false, "!!!!!!!!!!!!!!!!!!!!!!!!": false, "dGhlIHNhbXBsZSBub25jZXh4": false, "dGhlIHNhbXBsZSBub25jZQ": false,
		"dGhlIHNhbXBsZSBub25jZR==": false,
	} {
		require.Equal(t, want, isWebSocketKey(key), "%q", key)
	}
}
