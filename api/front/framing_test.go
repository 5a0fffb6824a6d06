package front

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// However a text is cut, the framing reads it the same.
func FuzzFraming(f *testing.F) {
	const twice = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
	f.Add([]byte(twice), 1)
	f.Add([]byte("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"+twice), 7)
	f.Add([]byte("\r\n\r\nGET / HTTP/1.0\nTransfer-Encoding: chunked\n\n"), 2)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		whole, parts := &framing{}, &framing{}
		want := whole.follow(text)
		got, cut := false, max(cut, 1)
		for rest := text; len(rest) > 0; {
			n := min(cut, len(rest))
			got = parts.follow(rest[:n]) || got
			rest = rest[n:]
		}
		if len(text) < maxHead {
			require.Equal(t, want, got)
		}
		require.LessOrEqual(t, len(parts.head), maxHead+cut)
	})
}
