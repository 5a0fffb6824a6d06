package main

import (
	"context"
	"fmt"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// remindOfCoupon reminds of a coupon three days, one day and one hour before it expires. A
// customer who uses it gets no further reminder: the receiver's answer ends the steps.
func remindOfCoupon(ctx context.Context, s *stage) error {
	s.longest = 73 * time.Hour
	s.slowly() // more than one ring per second is refused
	steps := []wire.Duration{}
	for _, before := range []time.Duration{72 * time.Hour, 24 * time.Hour, time.Hour} {
		steps = append(steps, wire.Duration(s.played(before)))
	}
	terms := s.terms(map[string]string{"coupon": "SPRING"})
	terms.Recurrence = &recurrence.Rule{Before: steps, DueAt: wire.At(time.Now().Add(s.played(73*time.Hour) + time.Second))}
	if err := s.put(ctx, "coupon-1", terms); err != nil {
		return err
	}
	s.printf("a coupon expires in three days and an hour: reminders 72, 24 and 1 hours before")
	for n := 1; n <= 2; n++ {
		reminder, err := s.next(ctx)
		if err != nil {
			return err
		}
		used := n == 2
		reminder.answer <- answer{stop: used}
		s.printf("reminder %s is sent", reminder.occurrence)
		if used {
			s.printf("the coupon is used: Wakecall-Stop: true ends the rest")
		}
	}
	return s.ended(ctx, "coupon-1")
}

// rankNightly computes a ranking every night at three by the clock of Berlin. The use case
// does not wait for the night: it rings the timer once beside its rule.
func rankNightly(ctx context.Context, s *stage) error {
	nightly := "0 3 * * *"
	terms := s.terms(map[string]string{"ranking": "shops"})
	terms.Recurrence = &recurrence.Rule{Cron: &nightly, Timezone: "Europe/Berlin"}
	if err := s.put(ctx, "shops", terms); err != nil {
		return err
	}
	upcoming, err := s.wakecall.Timers.Upcoming(ctx, s.key("shops"), 2)
	if err != nil {
		return err
	}
	s.printf("the ranking is computed at %s, at %s and so on", upcoming.Times[0], upcoming.Times[1])
	if _, _, err := s.wakecall.Timers.Fire(ctx, s.key("shops"), nil); err != nil {
		return err
	}
	ring, err := s.next(ctx)
	if err != nil {
		return err
	}
	ring.answer <- answer{}
	s.printf("it is asked for now, and %s is computed", ring.body)
	return s.cancel(ctx, "shops")
}

// pollRefund asks a bank every ten minutes for the result of a refund, until it is complete.
// Each interval counts from the end of the last call.
func pollRefund(ctx context.Context, s *stage) error {
	s.longest = 30 * time.Minute
	most := 20
	terms := s.terms(map[string]string{"refund": "refund-1"})
	terms.Recurrence = &recurrence.Rule{
		After:          client.After(max(s.played(10*time.Minute), recurrence.MinInterval)),
		InitialDelay:   client.After(s.played(10 * time.Minute)),
		MaxOccurrences: &most,
	}
	if err := s.put(ctx, "refund-1", terms); err != nil {
		return err
	}
	s.printf("a refund is ordered; the bank is asked every ten minutes, 20 times at most")
	for _, status := range []string{"pending", "through"} {
		ask, err := s.next(ctx)
		if err != nil {
			return err
		}
		ask.answer <- answer{stop: status == "through"}
		s.printf("the bank is asked, call %s: %s", ask.occurrence, status)
	}
	return s.ended(ctx, "refund-1")
}

// ended waits until the receiver's answer has ended a recurring timer.
func (s *stage) ended(ctx context.Context, id string) error {
	for range 100 {
		view, err := s.wakecall.Timers.Get(ctx, s.key(id))
		if err != nil {
			return err
		}
		if view.Stopped {
			s.printf("the timer has ended")
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s was not ended", id)
}
