package processes

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// installation is one Temporal, as its processes see it.
type installation struct {
	t  *testing.T
	on *enginetest.Temporal
}

// open is a process that gives no sign yet.
func (h installation) open(id string, role health.Role) *Processes {
	return New(kernel.New(h.on, "default", ""), Config{ID: id, About: func() health.About { return health.About{Role: role, Version: "1"} }})
}

// starts has a process give signs. Its clock is ahead by a while.
func (h installation) starts(id string, role health.Role, ahead time.Duration) (kill func()) {
	p := h.open(id, role)
	ctx, kill := context.WithCancel(h.t.Context())
	go func() {
		for ctx.Err() == nil {
			_ = p.signs.Give(ctx, failover.Sign{Worker: id, At: time.Now().Add(ahead), About: p.About()})
			select {
			case <-time.After(tuning.SignEvery):
			case <-ctx.Done():
			}
		}
	}()
	h.t.Cleanup(kill)
	return kill
}

// shown is what a process answers.
type shown struct {
	life map[string]health.Life
	seen map[string]time.Duration // how long ago
	ids  []string
	note string
	took time.Duration
}

func (h installation) list(p *Processes) shown {
	h.t.Helper()
	began := time.Now()
	answer, err := p.List(h.t.Context())
	require.NoError(h.t, err)
	require.Equal(h.t, p.ID, answer.Gateway)
	s := shown{life: map[string]health.Life{}, seen: map[string]time.Duration{}, note: answer.Note, took: time.Since(began)}
	for _, one := range answer.Processes {
		s.ids = append(s.ids, one.ID)
		s.life[one.ID], s.seen[one.ID] = one.State, -one.LastSeen.Until(time.Now())
	}
	return s
}

// inTime runs a test in its own time.
func inTime(t *testing.T, test func(installation)) {
	synctest.Test(t, func(t *testing.T) { test(installation{t, &enginetest.Temporal{}}) })
}

func passes(span time.Duration) {
	<-time.After(span)
	synctest.Wait()
}

// What becomes of a process is listed, gravest first.
func TestProcessesAreListed(t *testing.T) {
	inTime(t, func(h installation) {
		own := h.open("g", health.Gateway)
		giving, end := context.WithCancel(h.t.Context())
		leaving, leave := context.WithCancel(h.t.Context())
		go own.GiveSigns(giving, leaving)
		killed := h.starts("a", health.Worker, 0)
		h.starts("b", health.Node, 0)
		other := h.open("c", health.Gateway)
		synctest.Wait()
		all := h.list(own)
		require.Equal(h.t, []string{"a", "b", "g"}, all.ids)
		require.Empty(h.t, all.note)
		require.Zero(h.t, all.took)
		require.Equal(h.t, health.Alive, all.life["a"])

		killed()
		passes(tuning.SignDoubted - tuning.SignEvery)
		require.Equal(h.t, health.Alive, h.list(own).life["a"], "clocks may differ by as much")
		passes(3 * tuning.SignEvery)
		all = h.list(own)
		require.Equal(h.t, health.Silent, all.life["a"])
		require.Equal(h.t, "a", all.ids[0])
		require.Equal(h.t, tuning.SignAgain, all.took, "it looks twice")
		require.Greater(h.t, all.seen["a"], tuning.SignDoubted)
		require.Equal(h.t, health.Alive, all.life["b"])
		all = h.list(own)
		require.Equal(h.t, health.Silent, all.life["a"])
		require.Zero(h.t, all.took, "it was looked at")

		leave()
		passes(tuning.SignEvery)
		require.Equal(h.t, health.Stopping, h.list(other).life["g"])
		end()
		synctest.Wait()
		require.NotContains(h.t, h.list(other).ids, "g")
	})
}

// A process whose clock is wrong is alive while it gives signs, and silent once it does not.
func TestClocksThatAreWrong(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(h installation) {
				own := h.open("g", health.Gateway)
				h.starts("g", health.Gateway, 0)
				kill := h.starts("a", health.Worker, ahead)
				for range 3 {
					passes(time.Minute)
					all := h.list(own)
					require.Equal(h.t, health.Alive, all.life["a"])
					require.Zero(h.t, all.seen["a"])
				}
				kill()
				passes(time.Minute)
				all := h.list(own)
				require.Equal(h.t, health.Silent, all.life["a"])
				require.GreaterOrEqual(h.t, all.seen["a"], time.Duration(0), "it was not seen in a time to come")
			})
		})
	}
}

// Right after Temporal was away, all signs are old. None is taken for silent.
func TestTemporalWasAway(t *testing.T) {
	inTime(t, func(h installation) {
		own := h.open("g", health.Gateway)
		h.starts("g", health.Gateway, 0)
		h.starts("a", health.Worker, 0)
		passes(time.Second + time.Second/2)
		h.on.Err = errors.New("away")
		_, err := own.List(h.t.Context())
		require.Equal(h.t, wire.Unavailable, wire.CodeOf(err))
		passes(time.Minute)
		h.on.Err = nil
		require.Equal(h.t, health.Alive, h.list(own).life["a"])
	})
}

// What cannot be read is said. The gateway that answers is there all the same.
func TestWithoutSigns(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]*enginetest.Temporal{
		"none are kept": {}, "none are known": {Err: serviceerror.NewUnimplemented("no signs")},
	} {
		all := installation{t, on}.list(installation{t, on}.open("g", health.Gateway))
		require.Equal(t, []string{"g"}, all.ids, name)
		require.Equal(t, noteUnlisted, all.note, name)
	}
}

// A second look ends with its caller.
func TestTheSecondLookIsBounded(t *testing.T) {
	inTime(t, func(h installation) {
		kill := h.starts("a", health.Worker, 0)
		synctest.Wait()
		kill()
		passes(time.Minute)
		ctx, cancel := context.WithTimeout(h.t.Context(), time.Second)
		defer cancel()
		_, err := h.open("g", health.Gateway).List(ctx)
		require.Equal(h.t, wire.Unavailable, wire.CodeOf(err))
	})
}

// The sign of a check is no process.
func TestChecksAreNoProcesses(t *testing.T) {
	inTime(t, func(h installation) {
		h.starts("check", failover.Checking, 0)
		synctest.Wait()
		require.Equal(h.t, []string{"g"}, h.list(h.open("g", health.Gateway)).ids)
	})
}
