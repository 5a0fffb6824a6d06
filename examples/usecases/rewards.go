package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
)

// rewardsPerSecond is the flat rate of a mass reward, and rewardsPerCall is the number of
// rewards in one callback.
const (
	rewardsPerSecond = 8000
	rewardsPerCall   = 500
)

// rewardAll pays a reward to each of many users at a flat 8,000 a second, for the length of
// the use case, with 500 rewards in each callback. No user is paid twice.
func rewardAll(ctx context.Context, s *stage) error {
	users := rewardsPerSecond * max(int(s.takes/time.Second), 1)
	order := client.Order{Upload: true, Dispatch: dispatch.Dispatch{
		Key:       s.key("rewards-" + strconv.FormatInt(time.Now().UnixMilli(), 36)),
		PerSecond: rewardsPerSecond, Per: dispatch.PerPage, PageSize: rewardsPerCall,
		Callback: &delivery.Callback{Destination: delivery.HTTP(s.url)},
	}}
	if _, _, err := s.wakecall.Dispatches.Start(ctx, order); err != nil {
		return err
	}
	_, err := s.wakecall.Dispatches.Upload(ctx, order.Key, 0, func(yield func(dispatch.Item, error) bool) {
		for n := range users {
			if !yield(client.Item("user-"+strconv.Itoa(n), map[string]int{"cents": 100}), nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	s.printf("%d rewards are stored, and go out at %d a second", users, rewardsPerSecond)
	paid := map[string]bool{}
	var first time.Time
	for len(paid) < users {
		ring, err := s.next(ctx)
		if err != nil {
			return err
		}
		ring.answer <- answer{}
		if first.IsZero() {
			first = time.Now()
		}
		if err := pay(paid, ring.body); err != nil {
			return err
		}
		if len(paid) == users {
			s.printf("%d users have their reward, after %.1f seconds", users, time.Since(first).Seconds())
		}
	}
	return nil
}

// pay records the users of one callback. A callback may come again: a paid user stays paid.
func pay(paid map[string]bool, body []byte) error {
	var page struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return fmt.Errorf("reading a page of rewards: %w", err)
	}
	for _, item := range page.Items {
		paid[item.ID] = true
	}
	return nil
}
