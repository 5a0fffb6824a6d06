package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// pushScore pushes a score that is useless ten minutes later. The push service is busy for
// an hour, so the timer expires: nothing is sent late.
func pushScore(ctx context.Context, s *stage) error {
	s.longest = time.Hour
	terms := s.terms(map[string]string{"score": "2:1"})
	terms.Delay, terms.ExpiresAfter = client.After(0), client.After(s.played(10*time.Minute))
	terms.Retry = &delivery.Retry{Steps: []wire.Duration{wire.Duration(s.played(time.Hour))}}
	if err := s.put(ctx, "match-7", terms); err != nil {
		return err
	}
	s.printf("a score is to be pushed within ten minutes")
	for {
		select {
		case push := <-s.calls:
			push.answer <- answer{status: http.StatusServiceUnavailable}
			s.printf("the push service is busy for an hour")
		case <-time.After(100 * time.Millisecond):
			view, err := s.wakecall.Timers.Get(ctx, s.key("match-7"))
			switch {
			case err != nil:
				return err
			case view.Status == timer.Expired:
				s.printf("the score is old, and the timer has expired")
				return nil
			case view.Status.Finished():
				return fmt.Errorf("the push is %s", view.Status)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
