package stream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/stream"
)

var (
	taken   = delivery.Answer{Delivered: true}
	refused = delivery.Answer{Class: delivery.Refused, Detail: "no"}
)

// switchboard is a hub with its reports of places.
type switchboard struct {
	*testing.T
	*stream.Hub
	places []int
}

func newSwitchboard(t *testing.T) *switchboard {
	s := &switchboard{T: t}
	s.Hub = stream.NewHub(stream.Bounds{Connections: 3, PerType: 2}, func(_ string, places int) { s.places = append(s.places, places) })
	return s
}

func (s *switchboard) join(window int) *stream.Connection {
	s.Helper()
	c, err := s.Join("order", window)
	require.NoError(s, err)
	return c
}

// ring rings without waiting.
func (s *switchboard) ring(ctx context.Context) <-chan stream.Outcome {
	came := make(chan stream.Outcome, 1)
	go func() { came <- s.Ring(ctx, "order", stream.Ring{Body: []byte("x")}) }()
	synctest.Wait()
	return came
}

func (s *switchboard) next(c *stream.Connection) stream.Ring {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Hour)
	defer cancel()
	ring, err := c.Next(ctx)
	require.NoError(s, err)
	return ring
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitchboard(t)
		c := s.join(2)
		defer c.Close()
		first, second := s.ring(soon(t)), s.ring(soon(t))
		require.Equal(t, []uint64{1, 2}, []uint64{s.next(c).Number, s.next(c).Number})
		require.NoError(t, c.Answer(2, refused))
		require.NoError(t, c.Answer(1, taken))
		outcome := <-first
		require.True(t, outcome.Delivered)
		require.False(t, outcome.Taken.IsZero())
		require.Equal(t, refused, (<-second).Answer)

		require.ErrorIs(t, c.Answer(1, taken), stream.ErrOver, "twice")
		for _, number := range []uint64{0, 3} {
			require.ErrorIs(t, c.Answer(number, taken), stream.ErrNeverSent)
		}
		given := s.ring(soon(t))
		require.ErrorIs(t, c.Answer(3, taken), stream.ErrNeverSent, "before it was sent")
		late := s.next(c)
		outcome = <-given // after its deadline
		require.Equal(t, delivery.Answer{Class: delivery.Timeout}, outcome.Answer)
		require.ErrorIs(t, c.Answer(late.Number, taken), stream.ErrOver)
	})
}

// Connections share the load: the one with the most room gets the next ring.
func TestRingsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitchboard(t)
		small, large := s.join(1), s.join(3)
		defer small.Close()
		defer large.Close()
		for range 4 {
			s.ring(soon(t))
		}
		s.next(small)
		for range 3 {
			s.next(large)
		}
		outcome := <-s.ring(soon(t))
		require.Equal(t, delivery.ConnectFailure, outcome.Class, "nobody has room")
		require.True(t, outcome.NoVerdict)
		require.Equal(t, []int{1, 4}, s.places)
	})
}

// Connections that answer at once also share the load evenly.
func TestConnectionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitchboard(t)
		connections := []*stream.Connection{s.join(2), s.join(2)}
		rung := map[*stream.Connection]int{}
		now, cancel := context.WithCancel(t.Context())
		cancel()
		for range 30 {
			came := s.ring(soon(t))
			for _, c := range connections {
				if ring, err := c.Next(now); err == nil {
					rung[c]++
					require.NoError(t, c.Answer(ring.Number, taken))
				}
			}
			<-came
		}
		for _, c := range connections {
			require.Equal(t, 15, rung[c])
			c.Close()
		}
	})
}

// A ring gives no verdict on a receiver whose connection ended, or that never got it.
func TestNoVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitchboard(t)
		c := s.join(3)
		sent, waiting := s.ring(soon(t)), s.ring(soon(t))
		s.next(c)
		c.Close()
		for _, came := range []stream.Outcome{<-sent, <-waiting} {
			require.Equal(t, delivery.BrokenAnswer, came.Class)
			require.True(t, came.NoVerdict)
		}
		require.Equal(t, []int{3, 1, 0}, s.places)
		nobody := s.Ring(t.Context(), "order", stream.Ring{})
		require.Equal(t, delivery.ConnectFailure, nobody.Class)
		require.True(t, nobody.NoVerdict)

		slow := s.join(1)
		defer slow.Close()
		never := <-s.ring(soon(t))
		require.Equal(t, delivery.Timeout, never.Class)
		require.True(t, never.NoVerdict, "it was never sent")
		require.True(t, never.Taken.IsZero())
		over, cancel := context.WithCancel(t.Context())
		cancel()
		require.True(t, s.Ring(over, "order", stream.Ring{}).NoVerdict)
	})
}

// A leaving connection gets no more rings, returns the unsent ones, and ends when the last is
// answered.
func TestRetire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitchboard(t)
		c := s.join(3)
		sent, waiting := s.ring(soon(t)), s.ring(soon(t))
		ring := s.next(c)
		s.Drain()
		require.True(t, (<-waiting).NoVerdict)
		_, err := c.Next(t.Context())
		require.ErrorIs(t, err, stream.ErrLeaving)
		_, err = s.Join("order", 1)
		require.ErrorIs(t, err, stream.ErrLeaving)
		require.Equal(t, map[string]int{"order": 1}, s.Connections())
		select {
		case <-c.Ended():
			require.Fail(t, "it has a ring")
		default:
		}
		require.NoError(t, c.Answer(ring.Number, taken))
		require.True(t, (<-sent).Delivered)
		<-c.Ended()
		require.Empty(t, s.Connections())
		require.Equal(t, []int{3, 1, 0}, s.places)
		c.Close()
		c.Retire()
		s.Drain()
	})
}

// A ring of a stopping gateway gives no verdict on its receiver, whose answer may be lost:
// neither after the deadline, nor when the gateway stops waiting.
func TestRingsOfAHubThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitchboard(t)
		c := s.join(3)
		short, long, acked := s.ring(soon(t)), s.ring(t.Context()), s.ring(t.Context())
		s.next(c)
		s.next(c)
		last := s.next(c)
		s.Drain()
		late := <-short
		require.Equal(t, delivery.Timeout, late.Class)
		require.True(t, late.NoVerdict)
		require.False(t, late.Taken.IsZero())
		require.NoError(t, c.Answer(last.Number, taken), "it may be answered until then")
		require.True(t, (<-acked).Delivered)
		s.Close()
		given := <-long
		require.Equal(t, delivery.BrokenAnswer, given.Class)
		require.True(t, given.NoVerdict)
		require.Empty(t, s.Connections())
		_, err := s.Join("order", 1)
		require.ErrorIs(t, err, stream.ErrLeaving)
		s.Close()
	})
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSwitchboard(t)
	first, second := s.join(1), s.join(1)
	_, err := s.Join("order", 1)
	require.ErrorIs(t, err, stream.ErrFull)
	other, err := s.Join("other", 1)
	require.NoError(t, err)
	_, err = s.Join("third", 1)
	require.ErrorIs(t, err, stream.ErrFull)
	require.Same(t, first, s.Find("order", first.Name()))
	require.Nil(t, s.Find("other", first.Name()), "of another type")
	first.Close()
	require.Nil(t, s.Find("order", first.Name()))
	s.join(1).Close()
	second.Close()
	other.Close()
	require.Empty(t, s.Connections())
}

// With many concurrent rings, answers and ends, every ring has one outcome.
func TestTogether(t *testing.T) {
	t.Parallel()
	var told []int
	hub := stream.NewHub(stream.Bounds{Connections: 100, PerType: 100}, func(_ string, places int) { told = append(told, places) })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ended := make(chan error)
	for i := range 8 {
		go func() {
			for n := range 50 {
				c, err := hub.Join("order", 4)
				if err != nil {
					ended <- err
					return
				}
				for range n % 5 {
					within, cancel := context.WithTimeout(ctx, time.Millisecond)
					ring, err := c.Next(within)
					cancel()
					if err == nil && (i+n)%3 > 0 {
						_ = c.Answer(ring.Number, taken)
					}
				}
				c.Close()
			}
			ended <- nil
		}()
	}
	outcomes := make(chan stream.Outcome)
	for range 8 {
		go func() {
			for range 100 {
				within, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
				outcomes <- hub.Ring(within, "order", stream.Ring{})
				cancel()
			}
		}()
	}
	for range 800 {
		outcome := <-outcomes
		require.True(t, outcome.Delivered || outcome.Class != delivery.NoFailure)
	}
	for range 8 {
		require.NoError(t, <-ended)
	}
	require.Empty(t, hub.Connections())
	require.Zero(t, told[len(told)-1])
	require.NoError(t, ctx.Err())
}
