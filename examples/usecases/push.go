package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/timer"
)

// pushScore pushes a score that nobody wants ten minutes later. The push service is busy for an
// hour, so the timer expires: nothing is sent late, and nobody is woken for it.
func pushScore(ctx context.Context, s *stage) error {
	s.longest = time.Hour
	terms := s.terms(map[string]string{"score": "2:1"})
	terms.Delay, terms.ExpiresAfter = client.After(0), client.After(s.played(10*time.Minute))
	terms.Retry = &timer.Retry{Steps: []timer.Duration{timer.Duration(s.played(time.Hour))}}
	if err := s.put(ctx, "match-7", terms); err != nil {
		return err
	}
	push, err := s.next(ctx)
	if err != nil {
		return err
	}
	push.answer <- answer{status: http.StatusServiceUnavailable}
	s.tell("a score is to be pushed within ten minutes, and the push service is busy for an hour")
	return s.expired(ctx, "match-7")
}

// expired waits until a timer has expired.
func (s *stage) expired(ctx context.Context, id string) error {
	return s.until(ctx, id, func(view timer.View) (bool, error) {
		switch {
		case view.Status == timer.Expired:
			s.tell("the score is old, and the timer has expired")
			return true, nil
		case view.Status.Finished():
			return false, fmt.Errorf("%s has %s", id, view.Status)
		}
		return false, nil
	})
}
