package policies

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// slowStore is a store of one policy that takes a while for each read. The version
// tells which read an answer is from.
type slowStore struct {
	takes time.Duration
	reads atomic.Int32
}

func (s *slowStore) read(context.Context, string) (policy.Policy, error) {
	version := int(s.reads.Add(1))
	<-time.After(s.takes)
	return policy.Policy{Version: version}, nil
}

// close waits for a read that is under way: synctest's time stands still when a test ends.
func (s *slowStore) close() { <-time.After(s.takes) }

// asked returns the version that the cache answers with, and how long that took.
func asked(t *testing.T, c *policyCache) (version int, took time.Duration) {
	began := time.Now()
	policy, err := c.get(t.Context(), "demo")
	require.NoError(t, err)
	return policy.Version, time.Since(began)
}

// The policy of a canary is read from no store, and is not among those whose queues are polled.
// No caller can book a timer under its type.
func TestThePolicyOfACanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{}
		c := newPolicyCache(time.Minute, s.read)
		canary := policy.CanaryType("wakecall-1")
		current, err := c.get(t.Context(), canary)
		require.NoError(t, err)
		require.True(t, current.OnlyStreams())
		require.Zero(t, s.reads.Load())
		require.Empty(t, c.known())
		require.NotEmpty(t, wire.CheckBusinessType(canary))
		_, err = c.get(t.Context(), "order")
		require.NoError(t, err)
		require.EqualValues(t, 1, s.reads.Load(), "every other type is read")
	})
}

func TestPolicyIsReadAgainBeforeItIsMissed(t *testing.T) {
	const ttl, slow = 3 * time.Second, 1400 * time.Millisecond
	for name, c := range map[string]struct {
		idle    time.Duration // since the first read ended
		version int
		took    time.Duration
		reads   int32
	}{
		"young":              {ttl/2 - time.Millisecond, 1, 0, 1},
		"half of its time":   {ttl / 2, 1, 0, 2},
		"nearly all of it":   {ttl - time.Millisecond, 1, 0, 2},
		"not to be trusted":  {ttl, 2, slow, 2},
		"long not asked for": {time.Minute, 2, slow, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowStore{takes: slow}
				defer s.close()
				cache := newPolicyCache(ttl, s.read)
				version, took := asked(t, cache)
				require.Equal(t, 1, version)
				require.Equal(t, slow, took)

				<-time.After(c.idle)
				version, took = asked(t, cache)
				require.Equal(t, c.version, version)
				require.Equal(t, c.took, took)
				synctest.Wait()
				require.Equal(t, c.reads, s.reads.Load())
			})
		})
	}
}

// Whoever asks all the time never waits for a store that needs less than half of
// the time for which a policy is trusted.
func TestWhoAsksAllTheTimeNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{takes: 1400 * time.Millisecond}
		defer s.close()
		cache := newPolicyCache(3*time.Second, s.read)
		_, _ = asked(t, cache)
		for range 100 {
			<-time.After(100 * time.Millisecond)
			_, took := asked(t, cache)
			require.Zero(t, took)
		}
		synctest.Wait()
		require.InDelta(t, 4, s.reads.Load(), 1)
	})
}

// What was read before a policy was changed here is not kept after it.
func TestForgottenWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{takes: time.Second}
		defer s.close()
		cache := newPolicyCache(3*time.Second, s.read)
		_, _ = asked(t, cache)
		<-time.After(2 * time.Second)
		version, _ := asked(t, cache)
		require.Equal(t, 1, version)
		synctest.Wait()
		require.EqualValues(t, 2, s.reads.Load(), "it is being read again")
		cache.forget("demo")
		version, _ = asked(t, cache)
		require.Equal(t, 3, version)
		<-time.After(time.Second)
		version, _ = asked(t, cache)
		require.Equal(t, 3, version, "nor does the second read come back")
	})
}

// What a receiver asked for here holds here, while the store has not heard of it and a
// read that began before comes back without it.
func TestAWishIsNotReadAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{takes: 500 * time.Millisecond}
		defer s.close()
		cache := newPolicyCache(3*time.Second, s.read)
		_, _ = asked(t, cache)
		<-time.After(2 * time.Second)
		_, _ = asked(t, cache)
		synctest.Wait()
		require.EqualValues(t, 2, s.reads.Load(), "it is being read again")
		wish := policy.BackPressure{Until: wire.At(time.Now().Add(time.Hour))}
		require.True(t, cache.holdBack("demo", wish))
		<-time.After(s.takes)
		synctest.Wait()
		policy, err := cache.get(t.Context(), "demo")
		require.NoError(t, err)
		require.Equal(t, 2, policy.Version, "it has been read")
		require.Equal(t, &wish, policy.BackPressure)

		<-time.After(time.Minute)
		policy, err = cache.get(t.Context(), "demo")
		require.NoError(t, err)
		require.Nil(t, policy.BackPressure, "what nobody has asked for in a while is as the store says")
	})
}

// Readings that take longer than they are trusted, and one that nobody has made yet, do not
// lose it either.
func TestAWishOutlivesSlowReadings(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, cache *policyCache){
		"nobody has read": func(*testing.T, *policyCache) {},
		"one is trusted no more": func(t *testing.T, cache *policyCache) {
			_, _ = asked(t, cache)
			<-time.After(time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowStore{takes: 500 * time.Millisecond}
				defer s.close()
				cache := newPolicyCache(100*time.Millisecond, s.read)
				before(t, cache)
				wish := policy.BackPressure{Until: wire.At(time.Now().Add(time.Hour))}
				require.True(t, cache.holdBack("demo", wish))
				require.False(t, cache.holdBack("demo", wish), "it is no news")
				for range 10 {
					policy, err := cache.get(t.Context(), "demo")
					require.NoError(t, err)
					require.Equal(t, &wish, policy.BackPressure)
					<-time.After(time.Second)
				}
				<-time.After(time.Minute)
				policy, err := cache.get(t.Context(), "demo")
				require.NoError(t, err)
				require.Nil(t, policy.BackPressure, "the store should have heard of it by now")
			})
		})
	}
}

// A wish that was noted here and was lifted elsewhere is dropped with the next
// read; one that came after is not.
func TestALiftedWishIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := policy.Policy{Version: 1}
		cache := newPolicyCache(2*time.Second, func(context.Context, string) (policy.Policy, error) { return stored, nil })
		_, err := cache.get(t.Context(), "x")
		require.NoError(t, err)
		wish := func() policy.BackPressure {
			return policy.BackPressure{Since: wire.At(time.Now()), Until: wire.At(time.Now().Add(time.Hour))}
		}
		held := func() bool {
			_, err := cache.get(t.Context(), "x")
			require.NoError(t, err)
			synctest.Wait()
			policy, err := cache.get(t.Context(), "x")
			require.NoError(t, err)
			_, held := policy.HeldBack(time.Now())
			return held
		}
		require.True(t, cache.holdBack("x", wish()))
		<-time.After(1500 * time.Millisecond)
		require.True(t, held(), "the store has not heard of it yet")
		stored = stored.LiftBackPressure(wire.At(time.Now()))
		<-time.After(1500 * time.Millisecond)
		require.False(t, held())
		<-time.After(time.Second)
		require.True(t, cache.holdBack("x", wish()), "it is news again")
		<-time.After(500 * time.Millisecond)
		require.True(t, held())
	})
}
