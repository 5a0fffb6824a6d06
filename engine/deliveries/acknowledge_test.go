package deliveries

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// A word is answered once it took effect, and said again it is no error.
func TestAWordIsAnsweredWithItsEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		word   delivery.Acknowledgement
		status timer.Status
	}{
		"ack":  {delivery.Acknowledgement{}, timer.Delivered},
		"nack": {delivery.Acknowledgement{Nack: true, Reason: "out of stock"}, timer.Delivering},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				for range 2 {
					view, effect, err := s.said(c.word, time.Minute)
					require.NoError(t, err)
					require.Equal(t, bookings.Done, effect)
					require.Equal(t, c.status, view.Status)
				}
				require.Equal(t, 1, s.words(), "it was said once")
				other := c.word
				other.Nack = !other.Nack
				_, _, err := s.said(other, time.Minute)
				require.Equal(t, wire.NotAwaited, wire.CodeOf(err), "it is too late for the contrary")
				refused, _ := errors.AsType[*wire.Error](err)
				require.Equal(t, c.status, timer.StateOf(refused).Status)
			})
		})
	}
}

// A worker that died may have called the receiver in the task that waits.
func TestAWordMeetsATaskThatWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		booked  time.Duration // ago; the timer is due after an hour
		refused bool
	}{
		"it is due":     {2 * time.Hour, false},
		"it is not due": {time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				s.worker.State(t, order1ID, timer.Scheduled)
				<-time.After(c.booked)
				s.edit()
				_, _, err := s.said(delivery.Acknowledgement{}, time.Minute)
				require.Equal(t, c.refused, err != nil)
				require.Equal(t, c.refused, wire.CodeOf(err) == wire.NotAwaited)
			})
		})
	}
}

// A change that leaves the delivery alone begins another run. That knows the acceptance before a
// worker has its first task, and while its next attempt waits for one.
func TestAWordMeetsTheRunOfAChange(t *testing.T) {
	t.Parallel()
	nacked := accepted()
	nacked.Result, nacked.SettledAt, nacked.Failure = delivery.ResultRetry, nacked.Until, &delivery.Failure{Class: delivery.Nacked}
	silent := accepted()
	silent.Result, silent.SettledAt, silent.Failure = delivery.ResultRetry, silent.Until, &delivery.Failure{Class: delivery.Unacknowledged}
	type answer struct {
		effect  bookings.Effect
		refused bool
		words   int
	}
	took, known, refused := answer{bookings.Done, false, 1}, answer{bookings.Done, false, 0}, answer{"", true, 0}
	for name, c := range map[string]struct {
		accepted  delivery.Acceptance
		ack, nack answer
	}{
		"awaited":     {accepted(), took, took},
		"nacked":      {nacked, refused, known},
		"not in time": {silent, refused, refused},
	} {
		for begun, begin := range map[string]func(s *fixture){
			"no task":               func(*fixture) {},
			"an attempt that waits": (*fixture).wait,
		} {
			if c.accepted.Awaited() && begun != "no task" {
				continue // the next attempt waits for the receiver first
			}
			for _, nack := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, nack %t", name, begun, nack), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						s := open(t)
						s.edit()
						s.worker.Say(t, order1ID, workflows.MemoAcceptance, c.accepted)
						begin(s)
						_, effect, err := s.said(delivery.Acknowledgement{Nack: nack}, time.Minute)
						want := map[bool]answer{false: c.ack, true: c.nack}[nack]
						require.Equal(t, want, answer{effect, wire.CodeOf(err) == wire.NotAwaited, s.words()})
					})
				})
			}
		}
	}
}

// A word that has no effect yet is durable; a cancel outweighs it.
func TestAWordThatNoWorkerHasHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.on.OnEvent = nil
		began := time.Now()
		_, effect, err := s.said(delivery.Acknowledgement{}, 3*time.Second)
		require.NoError(t, err)
		require.Equal(t, bookings.Pending, effect)
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, 1, s.words(), "it is said once however long it is waited for")

		require.NoError(t, s.on.CancelWorkflow(t.Context(), order1ID, ""))
		_, _, err = s.said(delivery.Acknowledgement{}, 3*time.Second)
		require.Equal(t, wire.CancelPending, wire.CodeOf(err))
	})
}

// Who waits while the process leaves is told that it is pending.
func TestAWordWhileTheProcessLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.on.OnEvent = nil
		time.AfterFunc(time.Second, s.kernel.EndWaits)
		began := time.Now()
		_, effect, err := s.said(delivery.Acknowledgement{}, time.Hour)
		require.NoError(t, err)
		require.Equal(t, bookings.Pending, effect)
		require.Equal(t, time.Second, time.Since(began))
	})
}

// A change begins another run, which has to be told too.
func TestAWordFollowsTheTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		work := s.on.OnEvent
		s.on.OnEvent = func(string, *historypb.HistoryEvent) {
			s.on.OnEvent = work
			s.edit()
			s.delivering(accepted())
		}
		view, effect, err := s.said(delivery.Acknowledgement{}, time.Minute)
		require.NoError(t, err)
		require.Equal(t, bookings.Done, effect)
		require.Equal(t, timer.Delivered, view.Status)
		require.Equal(t, 2, s.words())
	})
}

// What became of a nack may be in the record of the run that was told of it only.
func TestANackThatTheNextAttemptOvertakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.on.OnEvent = func(string, *historypb.HistoryEvent) {
			s.on.OnEvent = nil
			made := delivery.Report{Result: delivery.ResultRetry, Attempt: 2, Attempts: []delivery.Attempt{{Number: 1}, {Number: 2, Class: delivery.Nacked}}}
			s.worker.Record(order1ID, 0, marker(t, made))
			s.delivering(delivery.Acceptance{Attempt: 3, Until: wire.At(time.Now()).Add(time.Hour)})
		}
		_, effect, err := s.said(delivery.Acknowledgement{Nack: true}, time.Minute)
		require.NoError(t, err)
		require.Equal(t, bookings.Done, effect)
		s.of.Attempt = 1
		_, _, err = s.said(delivery.Acknowledgement{Nack: true}, time.Minute)
		require.Equal(t, wire.NotAwaited, wire.CodeOf(err), "the attempt before that was not nacked")
	})
}

// A change may follow the nack, and the next attempt overtake both.
func TestANackThatAChangeFollows(t *testing.T) {
	t.Parallel()
	for class, refused := range map[delivery.FailureClass]bool{delivery.Nacked: false, delivery.Unacknowledged: true} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				s.on.OnEvent = func(string, *historypb.HistoryEvent) {
					s.on.OnEvent = nil
					made := delivery.Report{Result: delivery.ResultRetry, Attempt: 2, Attempts: []delivery.Attempt{{Number: 1}, {Number: 2, Class: class}}}
					s.worker.Record(order1ID, 0, marker(t, made))
					s.edit()
					s.delivering(delivery.Acceptance{Attempt: 3, Until: wire.At(time.Now()).Add(time.Hour)})
				}
				_, _, err := s.said(delivery.Acknowledgement{Nack: true}, time.Minute)
				require.Equal(t, refused, err != nil)
				require.Equal(t, refused, wire.CodeOf(err) == wire.NotAwaited)
			})
		})
	}
}

func TestTheErrorsOfAWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(s *fixture)
		code   wire.Code
	}{
		"nothing is awaited":        {func(s *fixture) { s.worker.Fail(order1ID) }, wire.NotAwaited},
		"the timer is gone":         {func(s *fixture) { s.of.Key.BusinessID = "2" }, wire.NotFound},
		"it cannot be described":    {func(s *fixture) { s.on.Refuse("DescribeWorkflowExecution", "", errors.New("down")) }, wire.Unavailable},
		"it cannot be told":         {func(s *fixture) { s.on.Refuse("SignalWorkflow", "", serviceerror.NewUnavailable("busy")) }, wire.Unavailable},
		"the record cannot be read": {func(s *fixture) { s.worker.Fail(order1ID); s.on.Refuse("GetWorkflowHistory", "", errors.New("down")) }, wire.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c.before(s)
			_, _, err := s.said(delivery.Acknowledgement{Nack: true}, 0)
			require.Equal(t, c.code, wire.CodeOf(err))
		})
	}
}

// A run that has closed meanwhile took nothing, and the next one is told.
func TestAWordToARunThatHasJustClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		refusals := 0
		s.on.Before = func(call enginetest.Call) error {
			if call.Name == "SignalWorkflow" && refusals == 0 {
				refusals++
				return serviceerror.NewNotFound("it has closed")
			}
			return nil
		}
		_, effect, err := s.said(delivery.Acknowledgement{}, time.Minute)
		require.NoError(t, err)
		require.Equal(t, bookings.Done, effect)
		require.Equal(t, 2, s.words())
	})
}

// A delivery is found by its webhook id, by who sees its business type, once visibility shows it.
func TestADeliveryIsFound(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		show := func() { s.worker.Attribute(t, order1ID, workflows.AttrWebhookID.GetName(), s.of.WebhookID) }
		took := func(id string, sees func(string) bool) (of Accepted, took time.Duration, err error) {
			began := time.Now()
			of, err = s.Find(t.Context(), id, sees)
			return of, time.Since(began), err
		}
		for _, id := range []string{"", "msg_1", "msg_" + strings.Repeat("A", 26), s.of.WebhookID + "' OR '1"} {
			_, wait, err := took(id, all)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), id)
			require.Zero(t, wait, "no id is of that form")
		}
		time.AfterFunc(tuning.DeliveryWait/2, show)
		of, wait, err := took(s.of.WebhookID, all)
		require.NoError(t, err)
		require.Equal(t, Accepted{Key: order1, WebhookID: s.of.WebhookID}, of)
		require.GreaterOrEqual(t, wait, tuning.DeliveryWait/2)

		_, hidden, err := took(s.of.WebhookID, none)
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		_, missing, err := took("msg_"+strings.Repeat("a", 26), all)
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		require.Equal(t, missing, hidden, "one that is not seen takes as long as one that is not there")

		s.on.Err = context.DeadlineExceeded
		_, _, err = took(s.of.WebhookID, all)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	})
}
