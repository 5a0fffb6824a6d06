package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/golden"
)

// Values of every stored type, with every field set. They combine fields that exclude one
// another in a request, such as steps and an exponential ladder.

func clock(hour int) wire.Instant {
	return wire.At(noon.Add(time.Duration(hour)*time.Hour + 7*time.Millisecond))
}

var (
	storedHeaders = map[string]string{"X-Tenant": "sealed:v1:aGVhZGVy"}

	storedCallback = delivery.Callback{Destination: delivery.Destination{URL: "https://shop.example/ring", Broker: "main", Exchange: "timers", RoutingKey: "order", Stream: true}, Headers: storedHeaders, Timeout: wire.Duration(5 * time.Second)}

	storedRetry = delivery.Retry{
		Steps: []wire.Duration{wire.Duration(time.Second), wire.Duration(90 * time.Second)}, Initial: wire.Duration(2 * time.Second),
		Multiplier: 1.5, MaxInterval: wire.Duration(time.Hour), MaxAttempts: 7, Jitter: 0.2,
	}

	storedFailure = delivery.Failure{Status: 503, Class: delivery.Answered, Message: "HTTP 503", At: clock(3)}

	storedOutcome = timer.Outcome{
		Status: timer.Failed, Attempts: 3, DeliveredAt: clock(4), LatenessMS: ptr(int64(12)), LastFailure: &storedFailure, PolicyVersion: 2, Link: delivery.LinkFallback, Stopped: true, Again: true, Earlier: 2, Unsent: true,
	}

	storedRecurrence = recurrence.Rule{
		Cron: ptr("30 9 * * MON-FRI"), Crons: []string{"0 12 * * *"}, Seconds: true, Dialect: calendar.Quartz,
		Every: ptr(wire.Duration(15 * time.Minute)), Offset: ptr(wire.Duration(2 * time.Minute)), After: ptr(wire.Duration(10 * time.Minute)),
		At: []wire.Instant{clock(5)}, Before: []wire.Duration{wire.Duration(time.Hour)}, DueAt: clock(6), DueLocal: ptr(wire.Wall(clock(6))),
		Timezone: "Europe/Berlin", InitialDelay: ptr(wire.Duration(time.Minute)), StartAt: clock(1), EndAt: clock(9),
		MaxOccurrences: ptr(40), Jitter: wire.Duration(3 * time.Second), Exclude: []string{"2027-12-25", "* * * * SUN"},
		Missed: recurrence.MissedFireAll, OnFailure: recurrence.OnFailurePause, Paused: true,
	}

	storedSeries = timer.Series{
		Rule: storedRecurrence, Cursor: recurrence.Cursor{Booked: clock(0), Last: clock(1), Ended: clock(2), Rung: 4, Extra: 1},
		Number: 5, Skipped: 2, Extra: true, Resumed: true, Base: 1, Extras: 2,
		Interrupted: &recurrence.Occurrence{Number: 4, Nominal: clock(2), Skipped: 1},
		Paused:      true, Waiting: true, Note: "the ranking is late",
		Last:  &timer.Past{Occurrence: 3, DueAt: clock(1), Skipped: 1, WebhookID: "msg_past", Outcome: storedOutcome},
		Began: true, Stopped: true,
	}

	storedRefusal = timer.Refusal{Change: "change-1", At: clock(1), FieldErrors: wire.FieldErrors{
		{Pointer: "/latest_at", Code: wire.CodeOutOfRange, Detail: "must not be before the due time", Example: `"2027-02-28T09:00:00Z"`},
	}, Precondition: true}

	storedLocal = timer.Local{Due: wire.Wall(clock(2)), Timezone: "Europe/Berlin"}

	storedLabels = timer.Labels{"customer": "42", "env": "test"}

	storedMemo = timer.Memo{
		Booking: "booking-1", Revision: 3, Round: 1, Content: 2, DueAt: clock(2), Local: &storedLocal, Debounce: &timer.Debounce{First: clock(0), Last: clock(1), MaxWait: wire.Duration(5 * time.Minute)}, LatestAt: clock(5), ExpiresAfter: wire.Duration(time.Hour), NeverExpires: true, Priority: 2, Labels: storedLabels,
		CreatedAt: clock(0), UpdatedAt: clock(1), Fingerprint: "5f0c", Idempotency: &timer.Idempotency{Key: "a1", Fingerprint: "b2"},
		EarlierKeys: []timer.EarlierKey{{Key: "a0", RunID: "run-1"}},
		Refusals:    []timer.Refusal{storedRefusal},
		Applied:     []string{"change-0"},
		Preload:     policy.Preload{Lead: wire.Duration(2 * time.Second), Window: wire.Duration(3 * time.Second)}, NotPreloaded: true,
		Series: &storedSeries, Suspended: true, Note: "until it is paid",
	}

	storedSpec = timer.Spec{
		Key: wire.Key{BusinessType: "order-close", BusinessID: "o-1"}, Memo: storedMemo, ContentType: "text/plain",
		Callback: &storedCallback, Retry: &storedRetry, OnDelivered: &storedTold, OnFailed: &storedTold, TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Behaviour: 6,
		Ongoing: &storedReport, Rung: &timer.Rung{DueAt: clock(1), LatenessMS: ptr(int64(12)), Ended: true, Attempts: 2},
	}

	storedReport = delivery.Report{
		Result: delivery.ResultRetry, Attempt: 2, SentAt: clock(2), LatenessMS: ptr(int64(12)), EndedAt: clock(3),
		RetryIn: wire.Duration(time.Minute), Waits: delivery.WaitsForRetryAfter, Failure: &storedFailure, PolicyVersion: 4, Timeout: wire.Duration(10 * time.Second),
		Skipped: 1, Latest: clock(5), Stream: true, Alert: true, Link: delivery.LinkFallback, Fallbacks: 1, DownSince: clock(1), Worker: "worker-1",
		OnDelivered: true, OnFailed: true, Stop: true, AckUntil: clock(6), Exhausted: true, Attempts: []delivery.Attempt{storedAttempt},
		Handed: &delivery.Handover{
			Link: delivery.LinkCallback, Probe: wire.Duration(time.Second), At: clock(2), Wait: wire.Duration(10 * time.Second), Times: 1, Missed: true,
		},
	}

	storedTold = delivery.Alert{Destination: storedCallback.Destination}

	storedAttempt = delivery.Attempt{
		Number: 2, DueAt: clock(2), SentAt: clock(2), EndedAt: clock(3), TookMS: 12, Status: 503, Class: delivery.Answered, Answer: "overloaded",
		Link: delivery.LinkFallback, Worker: "worker-1", Result: delivery.ResultRetry, RetryIn: wire.Duration(time.Minute), PolicyVersion: 4,
		KeyIDs: []string{"0a1b2c3d"}, AckUntil: clock(6), SettledAt: clock(7),
	}

	storedTerms = timer.Terms{
		DueAt: ptr(clock(2)), DueLocal: ptr(storedLocal.Due), Timezone: storedLocal.Timezone, Delay: ptr(wire.Duration(time.Hour)), Recurrence: &storedRecurrence, MaxWait: ptr(wire.Duration(5 * time.Minute)),
		LatestAt: ptr(clock(5)), ExpiresAfter: ptr(wire.Duration(2 * time.Hour)),
		Payload:  &timer.Payload{Data: []byte(`{"order":1}`), ContentType: timer.ContentTypeJSON, Base64: true},
		Callback: &storedCallback, Retry: &storedRetry, Priority: ptr(4), Labels: &storedLabels, OnDelivered: &storedTold, OnFailed: &storedTold, Paused: ptr(true),
	}

	storedPressure = policy.BackPressure{Until: clock(4), Since: clock(3), Status: 429}
)

// The stored form of a timer.
func TestStoredTimer(t *testing.T) {
	t.Parallel()
	golden.Check(t, "spec", storedSpec)
	golden.Check(t, "memo", storedMemo)
	golden.Check(t, "series", storedSeries)
	golden.Check(t, "outcome", storedOutcome)
	golden.Check(t, "change", timer.Change{
		ID: "change-1", Booking: "booking-2", Replace: true, Terms: storedTerms, Ring: true, Wake: true,
		Pause: &timer.Pause{Stop: true, Note: "until Monday"}, Preload: storedMemo.Preload, Fingerprint: "5f0c", IfMatch: "3-9a0b1c2d", At: clock(1),
	})
}

// The stored form of a delivery: the arguments, results, failures and heartbeats of its
// activities.
func TestStoredDelivery(t *testing.T) {
	t.Parallel()
	golden.Check(t, "delivery", timer.Delivery{Spec: storedSpec, Prior: &storedReport, Asked: true, Unanswered: timer.Unanswered{Worker: "worker-1", Times: 1}})
	golden.Check(t, "report", storedReport)
	golden.Check(t, "acceptance", delivery.Acceptance{
		Attempt: 2, Until: clock(6), LatenessMS: ptr(int64(12)), Link: delivery.LinkFallback, Result: delivery.ResultRetry, SettledAt: clock(5),
		RetryIn: wire.Duration(time.Minute), Failure: &storedFailure, Before: &storedFailure,
	})
	golden.Check(t, "acknowledgement", delivery.Acknowledgement{
		WebhookID: "msg_1", Round: 1, Attempt: 2, Nack: true, Reason: "out of stock", RetryAfter: wire.Duration(time.Minute),
	})
	golden.Check(t, "run_state", timer.RunState{Wanted: true, Last: &storedReport, Latest: clock(5), PolicyVersion: 4})
	golden.Check(t, "event", timer.Event{Type: timer.EventFailed, At: clock(3), Data: timer.EventData{
		BusinessType: "order-close", BusinessID: "o-1", DueAt: clock(2), Attempts: 6, WebhookID: "msg_1",
		LastFailure: &storedFailure, BackPressure: &storedPressure, Overdue: 3, Waiting: 4, WaitingSince: clock(2),
		DeliveredAt: clock(4), LatenessMS: ptr(int64(12)),
	}, Outcome: true, Own: &storedTold.Destination})
}

// The stored form of a policy, with sealed secrets and its receiver's request for a pause.
func TestStoredPolicy(t *testing.T) {
	t.Parallel()
	golden.Check(t, "policy", policy.Policy{
		BusinessType: "order-close", Version: 4, Callback: storedCallback, Retry: storedRetry, ExpiresAfter: wire.Duration(24 * time.Hour),
		Declare:        &delivery.Declare{ExchangeType: delivery.ExchangeTopic, Queue: "orders", QueueType: delivery.QueueQuorum},
		SigningSecrets: []string{"sealed:v1:b25l"}, SecretOverlap: ptr(wire.Duration(time.Hour)),
		RetiredSecrets: []policy.RetiredSecret{{Secret: "sealed:v1:dHdv", Until: clock(8)}},
		Limits: policy.Limits{
			AddsPerSecond: ptr(100.0), AddsBurst: 200, CallbacksPerSecond: ptr(12.5), InFlight: 50, Pending: ptr(1_000_000),
		},
		Priority: 2, Paused: true, PausedBy: "ana", PausedAt: clock(1), SecretsChangedAt: clock(2), DiscardAnswers: true, OnDelivered: &storedTold, OnFailed: &storedTold, Alert: &delivery.Alert{Destination: delivery.Destination{URL: "https://shop.example/alert", Broker: "ops", Exchange: "alerts", RoutingKey: "wakecall", Stream: true}}, Reuse: policy.ReuseAfterEnd,
		Fallback:    &delivery.Fallback{Callback: storedCallback, After: wire.Duration(time.Minute)},
		Ack:         &delivery.Ack{Within: wire.Duration(10 * time.Minute)},
		MinInterval: wire.Duration(time.Minute), Preload: ptr(wire.Duration(10 * time.Second)), OnTime: wire.Duration(5 * time.Second),
		TLS:             &policy.TLS{CA: "-----BEGIN CERTIFICATE-----", ClientCertificate: "-----BEGIN CERTIFICATE-----\n", ClientKey: "sealed:v1:a2V5"},
		MaxBackPressure: ptr(wire.Duration(30 * time.Minute)), BackPressure: &storedPressure, PressureLiftedAt: clock(1), StreamedUntil: clock(2),
		Claims: []policy.Claim{{Dispatch: "run-1", PerSecond: 12.5, Since: clock(0), Until: clock(1)}},
	})
	golden.Check(t, "back_pressure", storedPressure)
	golden.Check(t, "ring_answer", delivery.RingAnswer{
		Gateway: "wakecall-1", BusinessType: "order-close", Connection: "C", Number: 7, Delivered: true, Reason: "no",
		Delay: wire.Duration(time.Second), NoRetry: true, Stop: true,
	})
	golden.Check(t, "queue_rate", policy.QueueRate{BusinessType: "order-close", Rate: ptr(12.5)})
}

// The stored form of an emergency.
func TestStoredEmergency(t *testing.T) {
	t.Parallel()
	golden.Check(t, "emergency", policy.Emergency{Everything: true, BusinessType: "order-close", Author: "ops", Note: "wrong prices", Since: clock(1), ByPolicy: true})
}

var storedActor = wire.Actor{Name: "ops", ID: "0a1b", Role: "admin", By: "key", Via: "console", From: "10.0.0.7", RequestID: "r-1", Job: "bulk:job-0"}

// The stored form of an actor, in the identity of a change's event.
func TestStoredActor(t *testing.T) {
	t.Parallel()
	golden.Check(t, "actor", storedActor)
}

// The stored form of a test event: what was asked for, and the result.
func TestStoredTestRing(t *testing.T) {
	t.Parallel()
	golden.Check(t, "test_ring", delivery.TestRing{BusinessType: "order-close", Link: delivery.LinkFallback, WebhookID: "msg_1", At: clock(1)})
	golden.Check(t, "test_result", delivery.TestResult{
		Link: delivery.LinkFallback, WebhookID: "msg_1", Delivered: true, Status: 503, Class: delivery.Answered, Detail: "refused", SentAt: clock(1), TookMS: 12,
		Signed: true, TLS: &delivery.TLSSeen{Version: "TLS 1.3", Subject: "CN=orders", Until: clock(2)}, Answer: "out of order",
	})
}

// The stored form of a bulk job: its order, its pages and its heartbeats.
func TestStoredBulk(t *testing.T) {
	t.Parallel()
	edit := storedTerms
	golden.Check(t, "bulk", job.Bulk{
		ID: "job-1", Operation: job.Edit, Shift: wire.Duration(-30 * time.Minute), Edit: &edit, PerSecond: 20, BookedBefore: clock(1), DryRun: true, Counted: "job-0", CountedPages: 3, Fingerprint: "5f0c", By: &storedActor,
		Filter: timer.Filter{
			BusinessType: "order-close", BusinessID: "o-1", Status: timer.Scheduled, Labels: storedLabels, Recurring: true, DueFrom: clock(1), DueTo: clock(2), EndedFrom: clock(3), EndedTo: clock(4),
		},
	})
	outcomes := []job.Outcome{{Result: job.ResultSkipped, Code: wire.AlreadyFinished, Status: timer.Delivered, Detail: "/due_at: too late"}}
	golden.Check(t, "bulk_page", job.Page{
		Items:    []job.Item{{Key: storedSpec.Key, RunID: "run-1", Tag: "3-9a0b1c2d", DueAt: clock(2)}},
		Outcomes: outcomes,
	})
	golden.Check(t, "bulk_progress", job.BulkProgress{
		Tally:    job.Tally{Found: ptr(9), Done: 4, Skipped: 3, Failed: 2},
		Position: job.Position{Page: []byte("1"), After: "run-1", Tries: 2, Waits: clock(1)}, Pages: 2, Outcomes: outcomes,
	})
}

// Digests that are compared with stored ones, or computed again by a replay, never change.
func TestStoredDigests(t *testing.T) {
	t.Parallel()
	require.Equal(t, "198fbd3bcdac49f37d0ef29d0cb75f9f", storedTerms.Fingerprint())
	require.Equal(t, "msg_yrg2nh7hzq36qltkknplfse4ka", storedSpec.WebhookID())
	require.Equal(t, "3-debe4e3a", storedMemo.Tag())
	require.Equal(t, timer.Idempotency{Key: "be2974546978e3739e6d6da85c4be9f3", Fingerprint: "198fbd3bcdac49f37d0ef29d0cb75f9f"}, *timer.IdempotencyOf("key-1", storedTerms))
	require.Equal(t, clock(2)+1048, storedRecurrence.RingAt(clock(2), "booking-1"))
	require.Equal(t, policy.Preload{Lead: 52_465_297_301, Window: wire.Duration(time.Minute)}, policy.Policy{Preload: ptr(wire.Duration(time.Minute))}.Preloading("booking-1"))
}
