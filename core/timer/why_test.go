package timer_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

const whyNow wire.Instant = 1_000_000

var whyKey = wire.Key{BusinessType: "order", BusinessID: "1"}

func TestWhy(t *testing.T) {
	t.Parallel()
	failure := &delivery.Failure{Status: 503, Class: delivery.Answered, Message: "HTTP 503: secret words", At: 900_000}
	jittered := timer.View{Status: timer.Scheduled, DueAt: whyNow}
	jittered.Memo = timer.Memo{DueAt: whyNow, Booking: "b", Series: &timer.Series{Rule: recurrence.Rule{Jitter: wire.Duration(time.Hour)}}}
	require.Greater(t, jittered.Memo.RingsAt(), whyNow)
	emergency := delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: 5, WaitsBy: "anna", WaitsNote: "fire"}
	for name, c := range map[string]struct {
		view timer.View
		want []timer.Fact
	}{
		"not due": {timer.View{Status: timer.Scheduled, DueAt: whyNow + 1}, []timer.Fact{{Fact: timer.ReasonNotDue, Source: timer.FromTimer, Until: whyNow + 1}}},
		"not due, and everything is paused": {
			timer.View{Status: timer.Scheduled, DueAt: whyNow + 1, Wait: emergency},
			[]timer.Fact{{Fact: "emergency", Source: timer.FromEmergency, Since: 5, By: "anna", Note: "fire"}, {Fact: timer.ReasonNotDue, Source: timer.FromTimer, Until: whyNow + 1}},
		},
		"due, and everything is paused": {timer.View{Status: timer.Delivering, DueAt: 1, Wait: emergency}, []timer.Fact{{Fact: "emergency", Source: timer.FromEmergency, Since: 5, By: "anna", Note: "fire"}}},
		"due, and not yet to ring":      {jittered, []timer.Fact{{Fact: timer.ReasonNotDue, Source: timer.FromTimer, Until: jittered.Memo.RingsAt()}}},
		"overdue":                       {timer.View{Status: timer.Scheduled, DueAt: whyNow}, []timer.Fact{{Fact: timer.ReasonOverdue, Source: timer.FromTimer, Since: whyNow}}},
		"attempting":                    {timer.View{Status: timer.Delivering, DueAt: 1}, []timer.Fact{{Fact: timer.ReasonAttempting, Source: timer.FromWorker}}},
		"between attempts": {
			timer.View{Status: timer.Delivering, DueAt: 1, Attempts: 2, LastFailure: failure, NextAttemptAt: whyNow + 7},
			[]timer.Fact{{Fact: timer.ReasonBetweenAttempts, Source: timer.FromTimer, Since: 900_000, Until: whyNow + 7, Attempt: 2, Status: 503, Class: delivery.Answered}},
		},
		"trying again": {timer.View{Status: timer.Delivering, LastFailure: failure, NextAttemptAt: whyNow}, []timer.Fact{{Fact: timer.ReasonAttempting, Source: timer.FromWorker}}},
		"paused":       {timer.View{Status: timer.Paused, DueAt: 1, Note: "closed"}, []timer.Fact{{Fact: timer.ReasonPaused, Source: timer.FromTimer, Note: "closed"}}},
		"to be cancelled": {
			timer.View{Status: timer.Scheduled, DueAt: whyNow + 1, CancelRequested: true},
			[]timer.Fact{{Fact: timer.ReasonCancelRequested, Source: timer.FromTimer}, {Fact: timer.ReasonNotDue, Source: timer.FromTimer, Until: whyNow + 1}},
		},
		"delivered": {timer.View{Status: timer.Delivered, DeliveredAt: 3, Wait: emergency}, []timer.Fact{{Fact: "delivered", Source: timer.FromTimer, Since: 3}}},
		"failed": {
			timer.View{Status: timer.Failed, Attempts: 9, LastFailure: failure},
			[]timer.Fact{{Fact: "failed", Source: timer.FromTimer, Since: 900_000, Attempt: 9, Status: 503, Class: delivery.Answered}},
		},
		"failed, nobody says why": {timer.View{Status: timer.Failed}, []timer.Fact{{Fact: "failed", Source: timer.FromTimer}}},
		"expired":                 {timer.View{Status: timer.Expired, LatestAt: 4}, []timer.Fact{{Fact: "expired", Source: timer.FromTimer, Since: 4}}},
		"cancelled":               {timer.View{Status: timer.Cancelled}, []timer.Fact{{Fact: "cancelled", Source: timer.FromTimer}}},
	} {
		facts := c.view.Why(whyNow)
		for i := range facts {
			require.NotEmpty(t, facts[i].Text, name)
			require.NotContains(t, facts[i].Text, "secret", "what a receiver wrote is for those who see payloads")
			facts[i].Text = ""
		}
		require.Equal(t, c.want, facts, name)
	}
}

// What is known beside the view is said, and what could not be read as well: before a reason that is
// only a lack of reasons, and after any other.
func TestWhyTellsTheCircumstances(t *testing.T) {
	t.Parallel()
	emergency := delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: 5000, WaitsBy: "anna", WaitsNote: "fire"}
	limit := delivery.Wait{WaitsFor: delivery.WaitsForLimit, WaitsUntil: whyNow + 9}
	for name, c := range map[string]struct {
		view timer.View
		of   timer.Circumstances
		want []timer.Fact
	}{
		"at a limit": {timer.View{Status: timer.Delivering, Wait: limit}, timer.Circumstances{Queued: 3, PerSecond: 0.5}, []timer.Fact{
			{Fact: "limit", Source: timer.FromPolicy, Until: whyNow + 9, Queued: 3, PerSecond: 0.5,
				Text: "The callbacks_per_second limit of its policy is reached: at most 2 before it, at 0.5 a second, so about 4s."},
		}},
		"at the slowest limit": {timer.View{Status: timer.Delivering, Wait: limit}, timer.Circumstances{Queued: 10_000_001, PerSecond: 0.001}, []timer.Fact{
			{Fact: "limit", Source: timer.FromPolicy, Until: whyNow + 9, Queued: 10_000_001, PerSecond: 0.001,
				Text: "The callbacks_per_second limit of its policy is reached: at most 10000000 before it, at 0.001 a second, so about 876000h0m0s."},
		}},
		"first at a limit": {timer.View{Status: timer.Delivering, Wait: limit}, timer.Circumstances{Queued: 1, PerSecond: 0.5}, []timer.Fact{
			{Fact: "limit", Source: timer.FromPolicy, Until: whyNow + 9, Queued: 1, PerSecond: 0.5,
				Text: "The callbacks_per_second limit of its policy is reached."},
		}},
		"everything is paused": {timer.View{Key: whyKey, Status: timer.Delivering, Wait: emergency}, timer.Circumstances{AllPaused: true}, []timer.Fact{
			{Fact: "emergency", Source: timer.FromEmergency, Everything: true, Since: 5000, By: "anna", Note: "fire",
				Text: "The callbacks of all business types are paused by anna since 1970-01-01T00:00:05.000Z, with the note: fire."},
		}},
		"several hold it": {
			timer.View{Key: whyKey, Status: timer.Delivering, Wait: emergency},
			timer.Circumstances{AllPaused: true, Others: []delivery.Wait{{WaitsFor: delivery.WaitsForPause, WaitsBy: "ben"}, {WaitsFor: delivery.WaitsForRetryAfter, WaitsUntil: 9, WaitsBy: "receiver"}}},
			[]timer.Fact{
				{Fact: "emergency", Source: timer.FromEmergency, Everything: true, Since: 5000, By: "anna", Note: "fire",
					Text: "The callbacks of all business types are paused by anna since 1970-01-01T00:00:05.000Z, with the note: fire."},
				{Fact: "pause", Source: timer.FromPolicy, By: "ben", Text: "Its policy is paused."},
				{Fact: "retry_after", Source: timer.FromReceiver, Until: 9, By: "receiver", Text: "Its receiver asked for a delay of this timer."},
			},
		},
		"its type is paused": {timer.View{Key: whyKey, Status: timer.Delivering, Wait: emergency}, timer.Circumstances{}, []timer.Fact{
			{Fact: "emergency", Source: timer.FromEmergency, BusinessType: "order", Since: 5000, By: "anna", Note: "fire",
				Text: "The callbacks of its business type are paused by anna since 1970-01-01T00:00:05.000Z, with the note: fire."},
		}},
		"paused without a note": {timer.View{Key: whyKey, Status: timer.Delivering, Wait: delivery.Wait{WaitsFor: delivery.WaitsForEmergency}}, timer.Circumstances{}, []timer.Fact{
			{Fact: "emergency", Source: timer.FromEmergency, BusinessType: "order", Text: "The callbacks of its business type are paused."},
		}},
		"the last poll": {timer.View{Status: timer.Delivering, Wait: delivery.Wait{WaitsFor: delivery.WaitsForWorker}}, timer.Circumstances{LastPoll: 7}, []timer.Fact{
			{Fact: "worker", Source: timer.FromWorker, Since: 7, Text: "No worker has taken it. The last one asked for such attempts at the time given."},
		}},
		"an attempt": {timer.View{Status: timer.Delivering}, timer.Circumstances{AttemptSince: 8, Worker: "w-1"}, []timer.Fact{
			{Fact: timer.ReasonAttempting, Source: timer.FromWorker, Since: 8, By: "w-1", Text: "An attempt is under way."},
		}},
		"an attempt, and everything is paused": {timer.View{Status: timer.Delivering}, timer.Circumstances{AttemptSince: 8, Worker: "w-1", Stopped: emergency, AllPaused: true}, []timer.Fact{
			{Fact: "emergency", Source: timer.FromEmergency, Everything: true, Since: 5000, By: "anna", Note: "fire",
				Text: "The callbacks of all business types are paused by anna since 1970-01-01T00:00:05.000Z, with the note: fire."},
			{Fact: timer.ReasonAttempting, Source: timer.FromWorker, Since: 8, By: "w-1", Text: "An attempt is under way."},
		}},
		"overdue": {timer.View{Status: timer.Scheduled, DueAt: 5}, timer.Circumstances{WokenBy: whyNow + 6, Unread: []timer.ReasonSource{timer.FromEmergency}}, []timer.Fact{
			{Fact: timer.ReasonUnread, Source: timer.FromEmergency, Text: "Whether an emergency pauses its callbacks could not be read."},
			{Fact: timer.ReasonOverdue, Source: timer.FromTimer, Since: 5, Until: whyNow + 6,
				Text: "It is due, and no reason for a delay is known. A worker that lives wakes it by the time given."},
		}},
		"overdue, and not woken in time": {timer.View{Status: timer.Scheduled, DueAt: 5}, timer.Circumstances{WokenBy: whyNow}, []timer.Fact{
			{Fact: timer.ReasonOverdue, Source: timer.FromTimer, Since: 5, Text: "It is due, and no reason for a delay is known."},
		}},
		"not due": {timer.View{Status: timer.Scheduled, DueAt: whyNow + 1}, timer.Circumstances{Unread: []timer.ReasonSource{timer.FromPolicy, timer.FromWorker}}, []timer.Fact{
			{Fact: timer.ReasonNotDue, Source: timer.FromTimer, Until: whyNow + 1, Text: "It waits for its due time."},
			{Fact: timer.ReasonUnread, Source: timer.FromPolicy, Text: "Its policy could not be read."},
			{Fact: timer.ReasonUnread, Source: timer.FromWorker, Text: "The queue of its business type could not be read."},
		}},
	} {
		c.view.Circumstances = c.of
		require.Equal(t, c.want, c.view.Why(whyNow), name)
	}
}

// Every reason for a wait has a sentence and a source, and every view has an answer.
func TestEveryViewHasAReason(t *testing.T) {
	t.Parallel()
	for _, status := range timer.Statuses() {
		for _, waiting := range append(delivery.Waitings(), "") {
			for _, due := range []wire.Instant{whyNow - 1, whyNow, whyNow + 1} {
				view := timer.View{Status: status, DueAt: due}
				view.WaitsFor = waiting
				facts := view.Why(whyNow)
				require.NotEmpty(t, facts)
				for _, fact := range facts {
					require.Contains(t, timer.Reasons(), fact.Fact)
					require.Contains(t, timer.ReasonSources(), fact.Source)
					require.NotEmpty(t, fact.Text, fact.Fact)
				}
				if waiting != "" && !status.Finished() {
					require.True(t, facts[0].Fact == timer.Reason(waiting) || status == timer.Paused)
				}
			}
		}
	}
}

func TestThePageOnTimersNamesEveryReason(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/timers.md")
	require.NoError(t, err)
	for _, reason := range []timer.Reason{
		timer.ReasonCancelRequested, timer.ReasonPaused, timer.ReasonNotDue, timer.ReasonBetweenAttempts, timer.ReasonAttempting, timer.ReasonOverdue, timer.ReasonUnread,
	} {
		require.Contains(t, string(page), "\n| `"+string(reason)+"` | ")
	}
}
