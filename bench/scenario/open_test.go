package scenario_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/bench/subject"
)

// stalling is a subject that takes one call at a time, and long for each.
type stalling struct {
	takes time.Duration
	// turn is a lock that a synctest bubble can wait at.
	turn chan struct{}
}

func newStalling(takes time.Duration) *stalling {
	return &stalling{takes: takes, turn: make(chan struct{}, 1)}
}

func (*stalling) Start(*stage.Stage, string) error { return nil }

func (s *stalling) Add(context.Context, subject.Timer) error {
	s.turn <- struct{}{}
	<-time.After(s.takes)
	<-s.turn
	return nil
}

func (s *stalling) AddBatch(ctx context.Context, timers []subject.Timer) (int, error) {
	for i, timer := range timers {
		if err := s.Add(ctx, timer); err != nil {
			return i, err
		}
	}
	return len(timers), nil
}

func (*stalling) Counters(context.Context) (subject.Counters, error) { return subject.Counters{}, nil }

func (*stalling) Close() error { return nil }

// A closed loop would see 300 ms for each call: it would wait for the answer
// before it makes the next one.
func TestStallsAreNotOmitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := newStalling(300 * time.Millisecond)
		booking, err := scenario.NewRunner(slow, nil).Run(t.Context(), scenario.Plan{
			Name: "open", Kind: scenario.AddsOpen, For: time.Second, Rate: 10,
		})
		require.NoError(t, err)
		require.Equal(t, 10, booking.Calls.Made)
		require.Len(t, booking.Calls.Latency, 10)
		var most time.Duration
		for _, latency := range booking.Calls.Latency {
			most = max(most, latency)
		}
		require.Equal(t, 10*300*time.Millisecond-900*time.Millisecond, most, "the last call was to be made after 900 ms")
	})
}

func TestTimersAreBookedAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := newStalling(10 * time.Millisecond)
		runner := scenario.NewRunner(slow, nil)
		for _, over := range []time.Duration{0, 10 * time.Second} {
			booking, err := runner.Run(t.Context(), scenario.Plan{Name: "ahead", Kind: scenario.Ring, Timers: 500, Over: over})
			require.NoError(t, err)
			require.Zero(t, booking.Late)
			first, last := booking.Expected[0].Due, booking.Expected[499].Due
			require.Greater(t, time.Until(first), 2*time.Second, "what booking leaves to do is done")
			require.Equal(t, over*499/500, last.Sub(first))
		}
		booking, err := runner.Run(t.Context(), scenario.Plan{Name: "herd", Kind: scenario.Ring, Timers: 500, Ahead: time.Minute})
		require.NoError(t, err)
		require.Greater(t, time.Until(booking.Expected[0].Due), time.Minute+2*time.Second)
		slow.takes = time.Second
		booking, err = runner.Run(t.Context(), scenario.Plan{Name: "late", Kind: scenario.Ring, Timers: 100})
		require.NoError(t, err)
		require.Equal(t, 100, booking.Late, "a subject that became slow is seen")
		require.NotEmpty(t, scenario.Judge(booking, nil).Invalid)
	})
}

// The stream goes on at its rate while a batch stalls.
func TestTheStreamFlowsWhileTimersAreBooked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := newStalling(10 * time.Millisecond)
		booking, err := scenario.NewRunner(slow, nil).Run(t.Context(), scenario.Plan{
			Name: "pending", Kind: scenario.Pending, Timers: 1000, Rate: 10,
		})
		require.NoError(t, err)
		require.Equal(t, 1000, booking.Ahead)
		require.Len(t, booking.Calls.Tenths, 10)
		require.Greater(t, booking.Calls.Tenths[9].End.Sub(booking.Calls.Tenths[0].Begin), 10*time.Second)
		require.Equal(t, booking.Calls.Tenths[0].End, booking.Calls.Tenths[1].Begin)
		require.NotEmpty(t, booking.Calls.Tenths[9].Memory)
		require.Equal(t, 1000, inTenths(booking))
		require.InDelta(t, 10*booking.Calls.Elapsed.Seconds(), len(booking.Expected), 2)
		require.Zero(t, booking.Calls.Failed)

		booking, err = scenario.NewRunner(tardy{slow}, nil).Run(t.Context(), scenario.Plan{
			Name: "tardy", Kind: scenario.Pending, Timers: 1000, Rate: 10,
		})
		require.NoError(t, err)
		require.Positive(t, booking.Calls.Failed, "what was acknowledged too late is told")
		require.Len(t, booking.Free, booking.Calls.Failed)

		booking, err = scenario.NewRunner(refusing{slow}, nil).Run(t.Context(), scenario.Plan{
			Name: "refusing", Kind: scenario.Pending, Timers: 1000, Rate: 10,
		})
		require.NoError(t, err)
		require.Len(t, booking.Calls.Tenths, 10)
		require.Zero(t, inTenths(booking), "what was refused is not booked")
	})
}

func inTenths(booking scenario.Booking) (timers int) {
	for _, tenth := range booking.Calls.Tenths {
		timers += tenth.Timers
	}
	return timers
}

// refusing takes no batches.
type refusing struct{ *stalling }

func (refusing) AddBatch(context.Context, []subject.Timer) (int, error) {
	<-time.After(time.Second)
	return 0, context.DeadlineExceeded
}

// tardy acknowledges single timers after they are due.
type tardy struct{ *stalling }

func (tardy) Add(_ context.Context, timer subject.Timer) error {
	<-time.After(time.Until(timer.Due) + time.Second)
	return nil
}

func TestWhatCannotBeDoneIsSkipped(t *testing.T) {
	t.Parallel()
	for _, plan := range []scenario.Plan{
		{Kind: scenario.Mixed}, {Kind: scenario.Recurring}, {Kind: scenario.Crash}, {Kind: scenario.Ring, Preload: time.Second},
	} {
		booking, err := scenario.NewRunner(newStalling(0), nil).Run(t.Context(), plan)
		require.NoError(t, err)
		require.NotEmpty(t, booking.Skipped)
	}
	_, err := scenario.NewRunner(newStalling(0), nil).Run(t.Context(), scenario.Plan{Kind: "nonsense"})
	require.ErrorContains(t, err, "nonsense")
}
