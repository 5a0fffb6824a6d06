package watch

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Many that look make one look, and no more than the pace lets.
func TestOneLookForAll(t *testing.T) {
	t.Parallel()
	now, looks := time.Unix(1000, 0), atomic.Int64{}
	w := &Watch{Pace: Pace{Every: 4 * time.Second, Wait: time.Minute}, now: func() time.Time { return now }}
	w.look = func(*Picture) *Picture {
		looks.Add(1)
		return &Picture{At: now}
	}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { require.Equal(t, now, w.Picture(t.Context()).At) })
	}
	all.Wait()
	require.EqualValues(t, 1, looks.Load())
	now = now.Add(4*time.Second - 1)
	w.Picture(t.Context())
	require.EqualValues(t, 1, looks.Load())
	now = now.Add(1)
	require.Equal(t, now, w.Picture(t.Context()).At)
	require.EqualValues(t, 2, looks.Load())
	w.Changed()
	w.Picture(t.Context())
	w.Picture(t.Context())
	require.EqualValues(t, 3, looks.Load(), "what was changed here is shown at once")
}

// A look that takes long keeps no page waiting that has an older one, and a look that began
// before a change does not show it.
func TestALookThatTakesLong(t *testing.T) {
	t.Parallel()
	now, goOn := time.Unix(1000, 0), make(chan struct{})
	w := &Watch{Pace: Pace{}, now: func() time.Time { return now }}
	w.last = &Picture{At: time.Unix(1, 0)}
	began := make(chan struct{})
	w.look = func(*Picture) *Picture {
		close(began)
		<-goOn
		return &Picture{At: now}
	}
	require.Equal(t, time.Unix(1, 0), w.Picture(t.Context()).At)
	<-began
	w.Changed()
	w.look = func(*Picture) *Picture { return &Picture{At: time.Unix(2000, 0)} }
	w.Every, w.Wait = time.Hour, time.Minute
	require.Equal(t, time.Unix(2000, 0), w.Picture(t.Context()).At)
	close(goOn)
}
