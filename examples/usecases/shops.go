package main

import (
	"context"
	"fmt"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/wire"
)

// askIdleShop asks a shop for the cause after seven days without a sale. Each sale puts the
// timer again, which moves it.
func askIdleShop(ctx context.Context, s *stage) error {
	s.longest = 7 * 24 * time.Hour
	s.slowly()
	for sale := 1; sale <= 3; sale++ {
		terms := s.terms(map[string]int{"last_sale": sale})
		terms.Delay, terms.MaxWait = client.After(s.played(7*24*time.Hour)), client.After(s.played(365*24*time.Hour))
		if err := s.put(ctx, "shop-1", terms); err != nil {
			return err
		}
		s.printf("the shop makes sale %d, and has seven days from now", sale)
	}
	idle, err := s.next(ctx)
	if err != nil {
		return err
	}
	idle.answer <- answer{}
	if string(idle.body) != `{"last_sale":3}` {
		return fmt.Errorf("the ring is for %s, and not for the last sale", idle.body)
	}
	s.printf("seven days without a sale, and the shop is asked once")
	return nil
}

// freeRoom frees a room when its booking ends, at the end that was agreed on last.
func freeRoom(ctx context.Context, s *stage) error {
	s.longest = 3 * time.Hour
	s.slowly()
	began := time.Now()
	end := func(after time.Duration) wire.Instant { return wire.At(began.Add(s.played(after))) }
	terms := s.terms(map[string]string{"room": "12"})
	terms.DueAt = end(2 * time.Hour)
	if err := s.put(ctx, "room-12", terms); err != nil {
		return err
	}
	s.printf("room 12 is booked for two hours")
	if _, _, err := s.wakecall.Timers.Patch(ctx, s.key("room-12"), client.Terms{DueAt: end(3 * time.Hour)}, nil); err != nil {
		return err
	}
	s.printf("the guests stay for one hour more")
	freed, err := s.next(ctx)
	if err != nil {
		return err
	}
	freed.answer <- answer{}
	if early := time.Until(end(3 * time.Hour).Time()); early > 0 {
		return fmt.Errorf("the room was freed %s early", early)
	}
	s.printf("room 12 is free")
	return nil
}
