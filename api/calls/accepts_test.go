package calls

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A body in chunks may turn out to have none.
func TestEmptyBodies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "{}": false} {
		for _, length := range []int64{int64(len(text)), -1} {
			request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
			request.ContentLength = length
			require.Equal(t, want, IsEmpty(request), "%q %d", text, length)
			left, err := io.ReadAll(request.Body)
			require.NoError(t, err)
			require.Equal(t, text, string(left), "it can still be read")
		}
	}
}
