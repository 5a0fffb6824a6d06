package roles

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/observe"
)

// A Prometheus that does not answer costs what it alone knows. What this process knows stands in.
func TestAPrometheusThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	a := &attempts{ring: observe.NewLateness([]float64{1}, func() time.Time { return now })}
	from := wire.At(now.Truncate(time.Minute))
	span := outcomes.Span{From: from, To: from.Add(time.Minute), Step: time.Minute}
	known, source := a.Lateness(t.Context(), nil, span)
	require.Nil(t, known)
	require.Equal(t, outcomes.Unknown, source)

	require.NoError(t, a.askPrometheus(away.URL))
	known, source = a.Lateness(t.Context(), nil, span)
	require.Nil(t, known, "a gateway makes no attempt")
	require.Equal(t, outcomes.Unanswered, source)

	a.working.Store(true)
	late := int64(1)
	a.ring.Attempted("order", &late, false)
	known, source = a.Lateness(t.Context(), nil, span)
	require.Len(t, known, 1)
	require.Equal(t, outcomes.Unanswered, source)
}
