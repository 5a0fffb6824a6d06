package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

// A span without a moment is refused at its end. One bound alone never is.
func TestSpans(t *testing.T) {
	t.Parallel()
	const before, later = "must not be before from", "must be later than from"
	for _, c := range []struct {
		from, to     wire.Instant
		closed, open string
	}{
		{1, 2, "", ""}, {2, 2, "", later}, {3, 2, before, later}, {3, 0, "", ""}, {0, -1, "", ""}, {0, 0, "", ""},
	} {
		span := wire.Span{From: wire.Bound{Field: "from", At: c.from}, To: wire.Bound{Field: "to", At: c.to}}
		for closed, want := range map[bool]string{true: c.closed, false: c.open} {
			span.Closed = closed
			if want == "" {
				require.Empty(t, span.Check(), "%+v", span)
				continue
			}
			require.Equal(t, wire.FieldErrors{{Pointer: "to", Code: wire.CodeOutOfRange, Detail: want}}, span.Check())
		}
	}
}
