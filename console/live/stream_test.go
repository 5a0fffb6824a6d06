package live

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clientLines are the ends of lines as a client reads them.
var clientLines = regexp.MustCompile("\r\n|\r|\n")

// Whatever stands in what is sent is its text: it is no field of the event, and does not end it.
func TestTextIsNoFieldOfAnEvent(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	out := open(w)
	begun := w.Body.Len()
	require.NoError(t, out.event("", "7", []byte("a\revent: over\r\rid: 8\r\n\nb\n\rc")))
	lines := clientLines.Split(w.Body.String()[begun:], -1)
	require.Equal(t, []string{"id: 7", "data: a", "data: event: over", "data: ", "data: id: 8", "data: ", "data: b", "data: ", "data: c", "", ""}, lines)
	require.Contains(t, clientLines.Split("data: a\revent: over\n", -1), "event: over", "the oracle sees one")
	require.Equal(t, 1, strings.Count(w.Body.String()[begun:], "\n\n"))
}
