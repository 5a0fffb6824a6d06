package programs

import (
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// outcome is a known way to end.
type outcome struct {
	name, ends string
	terms      contract.JSON
	// then is what happens to a timer after its booking; nil for nothing.
	then func(b book, n int)
	// adds is what each adds to the report, besides its booking.
	adds slo.Report
	// count counts a timer whose figures are not known before; nil for others.
	count func(b book, n int)
}

func to(url string) contract.JSON { return contract.JSON{"url": url} }

// outcomes are those of a type with a policy. Its ladder has one step of 10 ms.
func (d *deployment) outcomes() []outcome {
	taken := slo.Report{Rung: 1, Delivered: 1, Attempts: 1}
	later := contract.JSON{"delay": "1h"}
	all := []outcome{
		{name: "taken", ends: "delivered", adds: taken},
		{name: "put", ends: "delivered", adds: taken},
		{name: "batched", ends: "delivered", adds: taken},
		{name: "gone", ends: "failed", terms: contract.JSON{"callback": to(d.r.On("/gone", receiver.Status(http.StatusGone)))}, adds: slo.Report{Rung: 1, Failed: 1, Attempts: 1}},
		{name: "twice", ends: "delivered", terms: contract.JSON{"callback": to(d.r.On("/once", receiver.FailFirst(1)))}, adds: slo.Report{Rung: 1, Delivered: 1, Attempts: 2}},
		{name: "unsent", ends: "failed", terms: contract.JSON{"callback": to(d.nowhere)}, adds: slo.Report{Rung: 1, Unsent: 1, Failed: 1, Attempts: 2}},
		{name: "missed", ends: "expired", terms: contract.JSON{"paused": true, "expires_after": "100ms"}, adds: slo.Report{Missed: 1, Expired: 1}},
		{name: "cancelled", ends: "cancelled", terms: later, then: book.cancel},
		{name: "fired", ends: "delivered", terms: later, then: book.fire, adds: taken},
		{name: "edited", ends: "delivered", terms: later, then: book.edit, adds: taken},
		{name: "replaced", ends: "delivered", terms: later, then: book.replace, adds: taken},
		{name: "rebooked", ends: "delivered", terms: later, then: book.rebook, adds: taken},
		{name: "again", ends: "delivered", terms: contract.JSON{"callback": to(d.r.On("/again", receiver.FailFirst(2)))}, then: book.redeliver, adds: slo.Report{Rung: 1, Failed: 1, Delivered: 1, Attempts: 3}},
	}
	return append(append(all, d.ladderOutcomes()...), d.acknowledgedOutcomes()...)
}

// ladderOutcomes are those of timers to which something happens between two attempts.
func (d *deployment) ladderOutcomes() []outcome {
	on := func(url string) contract.JSON {
		return contract.JSON{"callback": to(url), "retry": contract.JSON{"steps": []string{"1h"}}}
	}
	once := d.r.On("/once", receiver.FailFirst(1))
	twice := slo.Report{Rung: 1, Delivered: 1, Attempts: 2}
	return []outcome{
		{name: "cancelled-on-its-ladder", ends: "cancelled", terms: on(once), then: onItsLadder(book.cancel), adds: slo.Report{Attempts: 1}},
		{name: "moved-on-its-ladder", ends: "delivered", terms: on(once), then: onItsLadder(book.move), adds: twice},
		{name: "fired-on-its-ladder", ends: "delivered", terms: on(once), then: onItsLadder(book.fire), adds: twice},
		{name: "edited-on-its-ladder", ends: "delivered", terms: on(once), then: onItsLadder(func(b book, n int) { b.edit(n); b.fire(n) }), adds: twice},
		{name: "paused-on-its-ladder", ends: "delivered", terms: on(once), then: onItsLadder(book.pauseAndResume), adds: twice},
		{name: "moved-and-cancelled", ends: "cancelled", terms: on(once), then: onItsLadder(func(b book, n int) { b.patch(n, contract.JSON{"delay": "1h"}); b.cancel(n) }), adds: slo.Report{Attempts: 1}},
		{name: "unsent-and-paused", ends: "expired", terms: on(d.nowhere), then: onItsLadder(func(b book, n int) { b.expire(n, contract.JSON{"paused": true}) }), adds: slo.Report{Rung: 1, Unsent: 1, Expired: 1, Attempts: 1}},
		{name: "expired-on-its-ladder", ends: "expired", terms: on(once), then: onItsLadder(func(b book, n int) { b.expire(n, contract.JSON{}) }), adds: slo.Report{Rung: 1, Expired: 1, Attempts: 1}},
	}
}

// acknowledgedOutcomes are those of timers that their receiver accepts and acknowledges later.
func (d *deployment) acknowledgedOutcomes() []outcome {
	accepts := contract.JSON{"callback": to(d.r.On("/accept", receiver.Status(http.StatusAccepted)))}
	return []outcome{
		{name: "acknowledged", ends: "delivered", terms: accepts, then: func(b book, n int) { b.ack(n, 1, true) }, adds: slo.Report{Rung: 1, Delivered: 1, Attempts: 1}},
		{name: "refused", ends: "failed", terms: accepts, then: func(b book, n int) { b.ack(n, 1, false); b.ack(n, 2, false) }, adds: slo.Report{Rung: 1, Failed: 1, Attempts: 2}},
	}
}

// bareOutcomes are those of a type without a policy.
func (d *deployment) bareOutcomes() []outcome {
	return []outcome{
		{name: "bare", ends: "delivered", terms: contract.JSON{"callback": to(d.r.URL)}, adds: slo.Report{Rung: 1, Delivered: 1, Attempts: 1}},
		{name: "bare-missed", ends: "expired", terms: contract.JSON{"callback": to(d.r.URL), "paused": true, "expires_after": "100ms"}, adds: slo.Report{Missed: 1, Expired: 1}},
	}
}

// recurringOutcomes are those of recurring timers.
func (d *deployment) recurringOutcomes() []outcome {
	rule := func(url string) contract.JSON {
		return contract.JSON{
			"callback": to(url), "retry": contract.JSON{"steps": []string{"1h"}},
			"recurrence": contract.JSON{"every": "1s", "max_occurrences": 2},
		}
	}
	return []outcome{
		{name: "rule", ends: "delivered", terms: rule(d.r.URL), count: book.countOccurrences, adds: slo.Report{Rung: 2, Delivered: 2, Attempts: 2}},
		{name: "rule-fired", ends: "delivered", terms: rule(d.r.On("/once", receiver.FailFirst(1))), then: onItsLadder(book.fire),
			count: book.countOccurrences, adds: slo.Report{Rung: 3, Delivered: 3, Attempts: 4}},
		{name: "rule-paused", ends: "cancelled", terms: rule(d.r.On("/fail", receiver.FailFirst(9))), then: onItsLadder(func(b book, n int) {
			b.change("POST", n, "/pause", nil)
			b.cancel(n)
		}), adds: slo.Report{Attempts: 1}},
		{name: "rule-cancelled", ends: "cancelled", terms: rule(d.r.On("/fail", receiver.FailFirst(9))), then: onItsLadder(book.cancel), adds: slo.Report{Attempts: 1}},
	}
}

// byTheSecondLink is the outcome of timers whose callback is down.
func (d *deployment) byTheSecondLink() outcome {
	return outcome{name: "linked", ends: "delivered", count: book.countAttempts}
}

// takenLater is acknowledged by a process that made no attempt for it.
func (d *deployment) takenLater() outcome {
	late := d.acknowledgedOutcomes()[0]
	late.name = "late"
	return late
}

// onItsLadder is what happens to a timer once its first attempt has failed.
func onItsLadder(then func(b book, n int)) func(b book, n int) {
	return func(b book, n int) {
		waits := func() bool { shown := b.Get(b.path(n)); return shown.Attempts == 1 && !shown.NextAttemptAt.IsZero() }
		if !waits() {
			require.Eventually(b.T, waits, process.Patience, process.Interval, "%s fails once", b.path(n))
		}
		then(b, n)
	}
}

// change makes a call that changes the nth timer. A busy node may apply the change after its answer.
func (b book) change(method string, n int, more string, body any) {
	b.T.Helper()
	b.Do(method, "/v1/timers/"+b.path(n)+more, body, http.StatusOK, http.StatusAccepted)
}

func (b book) patch(n int, terms contract.JSON) { b.change("PATCH", n, "", terms) }

func (b book) cancel(n int) { b.change("DELETE", n, "", nil) }

func (b book) fire(n int) { b.change("POST", n, "/fire", nil) }

func (b book) move(n int) { b.patch(n, contract.JSON{"delay": "10ms"}) }

// edit replaces the payload, and the due time if the timer has not rung. A change books nothing.
func (b book) edit(n int) {
	b.patch(n, contract.JSON{"payload": "1234567890", "priority": 1})
	if b.name == "edited" {
		b.move(n)
	}
}

func (b book) replace(n int) {
	terms := contract.JSON{"delay": "10ms", "payload": "1234567890"}
	b.change("PUT", n, "", terms)
}

// rebook cancels the timer, and books its id anew.
func (b book) rebook(n int) {
	b.cancel(n)
	b.Await(b.path(n), "cancelled")
	b.terms = nil
	b.book(n)
}

func (b book) redeliver(n int) {
	b.Await(b.path(n), "failed")
	b.change("POST", n, "/redeliver", nil)
}

func (b book) pauseAndResume(n int) {
	b.patch(n, contract.JSON{"paused": true})
	b.Await(b.path(n), "paused")
	b.patch(n, contract.JSON{"paused": false})
}

// expire changes the timer so that its latest time passes soon. One that has passed is refused, so a
// busy node gets a later one.
func (b book) expire(n int, terms contract.JSON) {
	b.T.Helper()
	for soon := 300 * time.Millisecond; ; soon *= 2 {
		terms["latest_at"] = time.Now().Add(soon)
		status, answer, err := b.Try(http.MethodPatch, "/v1/timers/"+b.path(n), terms)
		require.NoError(b.T, err)
		if status == http.StatusUnprocessableEntity && soon < process.Patience {
			continue
		}
		require.Contains(b.T, []int{http.StatusOK, http.StatusAccepted}, status, "%s", answer)
		return
	}
}

// ack acknowledges an attempt, or refuses it.
func (b book) ack(n, attempt int, taken bool) {
	of := client.DeliveryOf(b.r.Await(b.T, b.id(n), attempt)[attempt-1].Header)
	require.Eventually(b.T, func() bool {
		shown := b.Get(b.path(n))
		return shown.Attempts == attempt && !shown.AckUntil.IsZero()
	}, process.Patience, process.Interval, "the 202 is recorded")
	var err error
	if say := b.Client().Deliveries; taken {
		_, _, err = say.Ack(b.T.Context(), of, nil)
	} else {
		_, _, err = say.Nack(b.T.Context(), of, client.Failure{Reason: "no"})
	}
	require.NoError(b.T, err)
}
