package failover

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workerpb "go.temporal.io/api/worker/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// passes lets time go by.
func passes(span time.Duration) {
	<-time.After(span)
	synctest.Wait()
}

// freedWithin is by when a survivor has what a dead worker cannot have rung, after its last sign:
// it stands still for as long as it must, and is looked for. lostWithin is by when a survivor has
// everything, and endedWithin where the machine knows that the worker has ended.
const (
	freedWithin = tuning.DeadAfter + 2*tuning.SignEvery
	lostWithin  = tuning.LostAfter + 2*tuning.SignEvery
	endedWithin = tuning.EndedAfter + 2*tuning.SignEvery
)

// corner is what happens to the two workers a and b, of which a holds ten timers, and
// what must have become of them.
type corner struct {
	happens func(*cluster, *process, *process)
	// freed is how many were taken from a, and died and revived whether b took it for dead.
	freed         int
	died, revived bool
}

// corners are the ways in which a worker dies, or seems to.
var corners = map[string]corner{
	"both live": {func(*cluster, *process, *process) { passes(time.Hour) }, 0, false, false},
	"killed":    {func(_ *cluster, a, _ *process) { a.kill(); passes(lostWithin) }, 10, true, false},
	"killed a moment ago": {func(_ *cluster, a, _ *process) {
		a.kill()
		passes(tuning.DeadAfter - tuning.SignEvery)
	}, 0, false, false},
	"killed on this machine": {func(c *cluster, a, _ *process) { a.kill(); c.ends("a"); passes(endedWithin) }, 10, true, false},
	"killed on this machine as the signs are lost": {func(c *cluster, a, _ *process) {
		a.kill()
		c.ends("a")
		c.set(func() { clear(c.signs) })
		passes(endedWithin)
	}, 10, true, false},
	"on a machine that only seems to be this one": {func(c *cluster, _, _ *process) { c.ends("a"); passes(time.Hour) }, 0, false, false},
	"frozen":            {func(_ *cluster, a, _ *process) { a.freeze(); passes(lostWithin) }, 10, true, false},
	"frozen and thawed": {func(_ *cluster, a, _ *process) { a.freeze(); passes(lostWithin); a.thaw(); passes(lostWithin) }, 10, true, true},
	"frozen for a moment": {func(_ *cluster, a, _ *process) {
		for range 10 {
			a.freeze()
			passes(tuning.DeadAfter - tuning.SignEvery)
			a.thaw()
			passes(2 * tuning.SignEvery)
		}
	}, 0, false, false},
	"both were frozen": {func(_ *cluster, a, b *process) {
		a.freeze()
		b.freeze()
		passes(time.Minute)
		b.thaw()
		a.thaw()
		passes(time.Minute)
	}, 0, false, false},
	"Temporal is away": {func(c *cluster, _, _ *process) {
		c.set(func() { c.away = errors.New("away") })
		passes(time.Minute)
		c.set(func() { c.away = nil })
		passes(time.Minute)
	}, 0, false, false},
	"killed while Temporal is away": {func(c *cluster, a, _ *process) {
		c.set(func() { c.away = errors.New("away") })
		a.kill()
		passes(time.Minute)
		c.set(func() { c.away = nil })
		passes(lostWithin)
	}, 10, true, false},
	"the signs are lost": {func(c *cluster, _, _ *process) { c.set(func() { clear(c.signs) }); passes(time.Minute) }, 0, false, false},
	"killed as the signs are lost": {func(c *cluster, a, _ *process) {
		a.kill()
		c.set(func() { clear(c.signs) })
		passes(lostWithin)
	}, 10, true, false},
	"lists are lean": {func(c *cluster, a, _ *process) {
		c.set(func() { c.lean = true })
		passes(time.Minute)
		a.kill()
		passes(lostWithin)
	}, 10, true, false},
	"no signs are taken": {func(c *cluster, a, _ *process) {
		c.set(func() { c.deaf = true })
		a.kill()
		passes(time.Minute)
	}, 0, false, false},
	"tokens have another form": {func(c *cluster, a, _ *process) {
		c.set(func() { c.strange = true })
		a.kill()
		passes(time.Minute)
	}, 0, true, false},
	"stopped": {func(c *cluster, a, _ *process) {
		a.stops(time.Minute)
		c.set(func() { // it has handed on what it held
			for _, run := range c.runs {
				run.holder = "b"
			}
		})
		passes(time.Minute)
	}, 0, false, false},
	"killed while it stops": {func(_ *cluster, a, _ *process) { a.failover.Stop(); passes(time.Minute); a.kill(); passes(lostWithin) }, 10, true, false},
	"what it held waits for a worker": {func(c *cluster, a, _ *process) {
		c.set(func() {
			for _, run := range c.runs {
				run.holder = ""
			}
		})
		a.kill()
		passes(time.Minute)
	}, 0, true, false},
	"visibility lags": {func(c *cluster, a, _ *process) {
		c.set(func() { c.runs[3].listed = time.Now().Add(lostWithin) })
		a.kill()
		passes(lostWithin + tuning.SweepPause + time.Second)
	}, 10, true, false},
	"listed while none can be judged": {func(c *cluster, a, _ *process) {
		c.set(func() { c.runs[3].listed = time.Now().Add(lostWithin + 2*tuning.JudgementTrusted) })
		a.kill()
		passes(lostWithin)
		c.set(func() { c.deaf = true })
		passes(3 * tuning.JudgementTrusted)
		c.set(func() { c.deaf = false })
		passes(lostWithin)
	}, 10, true, false},
	"booked at one that thaws": {func(c *cluster, a, _ *process) {
		a.freeze()
		passes(lostWithin)
		a.thaw()
		c.holds("a", 5, -5*time.Second)
		passes(lostWithin)
	}, 10, true, true},
	"handed to the frozen one since": {func(c *cluster, a, _ *process) {
		c.set(func() { c.runs[3].holder = "" })
		a.freeze()
		passes(lostWithin)
		c.set(func() { c.runs[3].holder = "a" })
		passes(tuning.SweepPause)
	}, 10, true, false},
	"held for long past its time": {func(c *cluster, a, _ *process) {
		c.set(func() { c.runs[3].rings = time.Now().Add(-time.Hour) })
		a.kill()
		passes(lostWithin)
	}, 10, true, false},
	"the clock of the dead one is ahead": {func(c *cluster, a, _ *process) {
		a.kill()
		c.set(func() { c.signs["a"].HeartbeatTime.Seconds += 3600 })
		passes(lostWithin + tuning.SignEvery)
	}, 10, true, false},
}

func TestCorners(t *testing.T) {
	for name, c := range corners {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				a, b := cluster.starts("a"), cluster.starts("b")
				passes(10 * time.Second)
				cluster.holds("a", 10, 0)
				cluster.holds("b", 10, 0)
				c.happens(cluster, a, b)
				freed := cluster.freed()
				require.Len(t, freed, c.freed)
				require.False(t, slices.ContainsFunc(freed, func(id string) bool { return len(id) > 1 }), "b keeps its own")
				require.Equal(t, c.freed, b.freed)
				require.Equal(t, c.died, slices.Contains(b.died, "a"))
				require.Equal(t, c.revived, slices.Contains(b.revived, "a"))
				require.Empty(t, a.died, "nor does a take b for dead")
			})
		})
	}
}

// A worker that starts alone, after Temporal has forgotten all signs, finds what the one
// before it held.
func TestTheOnlyWorkerComesBack(t *testing.T) {
	for ended, within := range map[bool]time.Duration{false: freedWithin, true: endedWithin} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			c.holds("before", 10, 0)
			if ended {
				c.ends("before")
			}
			b := c.starts("b")
			passes(within - 2*tuning.SignEvery)
			require.Empty(t, c.freed())
			passes(2 * tuning.SignEvery)
			require.Len(t, c.freed(), 10)
			require.False(t, b.failover.Crashed("before", time.Now()), "it may have left word, for all that is known")
		})
	}
}

// A worker that starts while others hold timers takes nothing from them, whose signs it
// has not seen yet.
func TestAWorkerThatStartsTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.starts("a")
		c.holds("a", 10, 0)
		c.set(func() { clear(c.signs) })
		c.starts("b")
		passes(time.Minute)
		c.starts("new")
		c.holds("new", 10, 0)
		passes(time.Minute)
		require.Empty(t, c.freed())
	})
}

// A worker that was frozen itself, and comes back, takes nothing from the others.
func TestAFrozenWorkerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a, b := c.starts("a"), c.starts("b")
		passes(10 * time.Second)
		c.holds("a", 10, 0)
		b.freeze()
		passes(time.Minute)
		b.thaw()
		passes(time.Minute)
		require.Equal(t, []string{"b"}, a.died)
		require.Equal(t, []string{"b"}, a.revived)
		require.Empty(t, b.died)
		require.Empty(t, c.freed())
	})
}

// What fell due while a dead worker could trust in its signs it has probably rung. Others take it
// over later, and not at all where the worker was only slow.
func TestWhatADeadWorkerHasRung(t *testing.T) {
	for name, c := range map[string]struct {
		rings, still time.Duration
		freed        bool
	}{
		"due before its last sign": {-time.Second, freedWithin, false},
		"due as it trusts in it":   {tuning.SignTrusted - time.Second, freedWithin, false},
		"due after that":           {tuning.SignTrusted + 2*tuning.SignEvery, freedWithin, true},
		"dead for long":            {-time.Second, lostWithin, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				a := cluster.starts("a")
				cluster.starts("b")
				passes(10 * time.Second)
				cluster.holds("a", 1, c.rings)
				a.freeze()
				passes(c.still)
				a.thaw()
				passes(time.Minute)
				require.Equal(t, c.freed, len(cluster.freed()) == 1)
			})
		})
	}
}

// A worker that stops is not taken for dead, however soon it has stopped.
func TestStoppedSoon(t *testing.T) {
	for _, took := range []time.Duration{tuning.LastQuestions + 10*time.Millisecond, 5 * tuning.LastQuestions / 4, 3 * tuning.LastQuestions / 2} {
		for phase := range 10 {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				a := c.starts("a")
				passes(time.Duration(phase) * tuning.SignEvery / 10)
				b := c.starts("b")
				passes(10*time.Second + 3*tuning.SignEvery/4)
				a.stops(took)
				passes(time.Minute)
				require.Empty(t, b.died)
			})
		}
	}
}

// Several survivors free each timer once, and what one of them does not the others do.
func TestSurvivors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a, second := c.starts("a"), c.starts("b")
		third, fourth := c.starts("c"), c.starts("d")
		passes(10 * time.Second)
		c.holds("a", 500, 0)
		c.holds("d", 20, 0)
		a.kill()
		fourth.kill()
		passes(freedWithin)
		require.ElementsMatch(t, []string{"a", "d"}, second.died)
		require.ElementsMatch(t, []string{"a", "d"}, third.died)
		passes(20 * time.Second)
		freed := c.freed()
		require.Len(t, freed, 520)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(freed))), 520, "each once")
		require.Greater(t, second.freed, 100)
		require.Greater(t, third.freed, 100)
		require.Zero(t, c.heldBy("a")+c.heldBy("d"))
	})
}

// What is due first is freed first, and what is due later no faster than Temporal hands it
// out again.
func TestTheOrderOfFreeing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a := c.starts("a")
		c.starts("b")
		passes(10 * time.Second)
		c.holds("a", 5, 40*time.Second)
		c.holds("a", 20, 0)
		for range 100 {
			c.holds("a", 3, 50*time.Second)
		}
		a.kill()
		passes(freedWithin)
		freed := c.freed()
		require.Greater(t, len(freed), 20)
		require.Less(t, len(freed), 20+3*tuning.DispatchPerSecond, "paced")
		require.NotContains(t, freed[:10], "0", "it is due later")
		passes(20 * time.Second)
		require.Len(t, c.freed(), 325)
	})
}

// A second worker that dies is not behind what the first one had and what has time.
func TestASecondDeathWaitsForNoSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a, third := c.starts("a"), c.starts("c")
		c.starts("b")
		passes(10 * time.Second)
		for range 100 {
			c.holds("a", 40, 60*time.Second)
		}
		a.kill()
		passes(freedWithin)
		require.NotEmpty(t, c.freed(), "it is at what has time")
		c.holds("c", 5, 15*time.Second)
		third.kill()
		passes(lostWithin)
		require.Len(t, slices.DeleteFunc(c.freed(), func(id string) bool { return len(id) < 4 || id < "4000" }), 5)
	})
}

// Of very many timers that have been overdue for long, as after an outage, so many are looked at. The
// first that Temporal handed out are among them.
func TestManyThatAreOverdueForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a := c.starts("a")
		c.starts("b")
		passes(10 * time.Second)
		c.holds("a", 10, -2*time.Hour)
		for n := range 3 * tuning.OlderLooked {
			c.holds("", 1, time.Duration(n)*time.Millisecond-time.Hour)
		}
		c.holds("a", 10, time.Second)
		a.kill()
		passes(lostWithin)
		require.Len(t, c.freed(), 20)
		c.set(func() { slices.Sort(c.read) })
		require.Less(t, len(slices.Compact(c.read)), 2*tuning.OlderLooked, "the others come later; a second worker, of which there was one, looks at others")
	})
}

// What one of the living had may be lost later on its way to this worker.
func TestWhatALivingWorkerHadIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.starts("a")
		b := c.starts("b")
		passes(time.Minute)
		c.holds("a", 1, time.Minute)
		b.fails()
		passes(time.Minute)
		require.Empty(t, c.freed())
		c.set(func() { c.runs[0].holder, c.runs[0].lost = "b", true })
		b.fails()
		passes(time.Minute)
		require.Equal(t, []string{"0"}, c.freed())
	})
}

// A worker remembers of the living only what they hold now.
func TestTheLivingAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.starts("a")
		b := c.starts("b")
		passes(time.Minute)
		for range 10 {
			c.set(func() {
				for _, ended := range c.runs {
					ended.holder, ended.listed = "", time.Now().Add(time.Hour)
				}
			})
			c.holds("a", 100, time.Minute)
			b.fails()
			passes(3 * tuning.SweepPause)
		}
		living := b.failover.held.finder.(*sweep)
		living.mu.Lock()
		defer living.mu.Unlock()
		require.LessOrEqual(t, len(living.alive), 100)
	})
}

// A try that was freed, and that another worker makes now, is left alone.
func TestTheNextTryIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		b := c.starts("b")
		passes(time.Minute)
		c.attempts("dead", workflows.DeliveryQueue("order"))
		pending := proto.CloneOf(c.runs[0].attempt)
		run := &commonpb.WorkflowExecution{WorkflowId: "order/0", RunId: c.runs[0].runID()}
		free := func() bool {
			freed, err := b.failover.holds.FreeActivity(t.Context(), run, pending)
			require.NoError(t, err)
			return freed
		}
		require.True(t, free())
		c.set(func() { c.runs[0].attempt.State = enumspb.PENDING_ACTIVITY_STATE_STARTED })
		require.False(t, free(), "it is the next one")
		pending.Attempt++
		require.True(t, free())
		pending.ActivityId = "gone"
		require.False(t, free(), "no token names it")
	})
}

// What a dead worker had of timers past their first attempt is freed too: attempts later than
// tasks, for they may be under way. Those of gateways, whose signs no worker lists, are left alone.
func TestAttemptsOfADeadWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a := c.starts("a")
		c.starts("b")
		passes(10 * time.Second)
		queue := workflows.DeliveryQueue("order")
		first, task := c.attempts(`a for {"by":"key"}`, queue), c.attempts("b", queue)
		waits, stream := c.attempts("a", queue), c.attempts("gateway", workflows.StreamQueue("order"))
		c.attempts("b", queue)
		c.set(func() {
			c.runs[1].holder = "a"
			c.runs[2].attempt.State = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
		})
		passes(time.Minute)
		require.Empty(t, c.freed(), "all live")
		a.kill()
		passes(freedWithin)
		require.Equal(t, []string{task}, c.freed())
		passes(lostWithin - freedWithin)
		require.Equal(t, []string{task, first}, c.freed())
		passes(time.Minute)
		require.NotContains(t, c.freed(), waits)
		require.NotContains(t, c.freed(), stream)
	})
}

// The attempts of a process that was the only one are found by the next.
func TestAttemptsOfTheProcessBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		id := c.attempts("before", workflows.DefaultDeliveryQueue)
		c.starts("b")
		passes(lostWithin)
		require.Equal(t, []string{id}, c.freed())
	})
}

// Where very many timers wait for a retry, so many are looked at, and no faster than that
// Temporal can bear it.
func TestManyRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		for range 2 * tuning.AttemptsLooked {
			c.attempts("before", workflows.DefaultDeliveryQueue)
		}
		c.starts("b")
		passes(time.Minute)
		require.LessOrEqual(t, len(c.freed()), 60*tuning.AttemptLooks)
		require.Len(t, c.freed(), tuning.AttemptsLooked)
	})
}

// A timer that cannot be read keeps the search from no other one. A Temporal that answers for none is not
// asked for all.
func TestARetryThatCannotBeRead(t *testing.T) {
	const all = 2 * tuning.UnansweredChecks
	for broken, freed := range map[int]int{1: all - 1, tuning.UnansweredChecks - 1: tuning.UnansweredChecks + 1, tuning.UnansweredChecks: 0} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			for n := range all {
				c.attempts("before", workflows.DefaultDeliveryQueue)
				c.runs[n].broken = n < broken
			}
			b := c.starts("b")
			passes(lostWithin + 2*time.Second)
			require.Len(t, c.freed(), freed, broken)
			require.NotZero(t, b.failed, "it is told of")
		})
	}
}

// A frozen worker takes no further tasks, and can be asked once it thaws.
func TestThePollsOfADeadWorkerEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a := c.starts("a")
		c.starts("b")
		c.set(func() {
			for _, queue := range []string{workflows.TaskQueue, workflows.DefaultDeliveryQueue, workflows.ReceiptQueue("a")} {
				c.signs[queue] = &workerpb.WorkerHeartbeat{WorkerInstanceKey: queue, WorkerIdentity: "a", TaskQueue: queue}
			}
		})
		passes(10 * time.Second)
		a.freeze()
		passes(freedWithin)
		require.ElementsMatch(t, []string{"a " + workflows.TaskQueue, "a " + workflows.DefaultDeliveryQueue}, c.endedPolls())
	})
}

// A process polls a queue for each business type. To end very many polls takes no longer than a sign may:
// meanwhile no worker is judged.
func TestThePollsOfVeryManyQueues(t *testing.T) {
	for slow, left := range map[time.Duration]bool{time.Millisecond: false, time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			const queues = 1000
			c := newCluster(t)
			a := c.starts("a")
			c.starts("b")
			c.set(func() {
				c.slow = slow
				for n := range queues {
					queue := workflows.DeliveryQueue(strconv.Itoa(n))
					c.signs[queue] = &workerpb.WorkerHeartbeat{WorkerInstanceKey: queue, WorkerIdentity: "a", TaskQueue: queue}
				}
			})
			passes(10 * time.Second)
			c.holds("a", 10, 0)
			a.freeze()
			passes(lostWithin + tuning.SignTimeout)
			require.Len(t, c.freed(), 10)
			require.Equal(t, left, len(c.endedPolls()) < queues)
		})
	}
}

// A task that was lost on its way to this worker is freed once Temporal has failed. One that is
// on its way is not, nor one that has arrived, nor one of another worker that lives.
func TestALostTask(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*cluster, *process)
		freed   []string
		// reads is whether b reads the history of what it has itself.
		reads bool
	}{
		"lost":                    {func(_ *cluster, b *process) { b.fails(); passes(time.Minute) }, []string{"2"}, false},
		"Temporal has not failed": {func(*cluster, *process) { passes(time.Minute) }, nil, false},
		"it arrives": {func(c *cluster, b *process) {
			b.fails()
			passes(tuning.TaskArrives / 2)
			c.set(func() { c.runs[2].lost = false })
			passes(time.Minute)
		}, nil, false},
		"at another one": {func(c *cluster, b *process) {
			c.set(func() { c.runs[2].holder = "a" })
			b.fails()
			passes(time.Minute)
		}, nil, false},
		"it was cut off since": {func(c *cluster, b *process) {
			c.set(func() { b.got = time.Now().Add(-time.Hour) })
			b.fails()
			passes(time.Minute)
		}, []string{"2"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				cluster.starts("a")
				b := cluster.starts("b")
				passes(time.Minute) // the search at its start is over
				cluster.holds("a", 2, 0)
				cluster.holds("b", 2, 0)
				cluster.set(func() { cluster.runs[2].lost = true })
				c.happens(cluster, b)
				require.Equal(t, c.freed, cluster.freed())
				require.Equal(t, c.reads, slices.Contains(cluster.read, "3"), "b has it itself")
			})
		})
	}
}

// What counts as a failure of Temporal: calls that end by their own deadline do not.
func TestTrouble(t *testing.T) {
	t.Parallel()
	write, read := &workflowservice.RespondWorkflowTaskCompletedRequest{}, &workflowservice.PollWorkflowTaskQueueRequest{}
	for name, c := range map[string]struct {
		request any
		code    codes.Code
		failed  bool
	}{
		"answered":              {write, codes.OK, false},
		"refused":               {write, codes.NotFound, false},
		"away":                  {read, codes.Unavailable, true},
		"a write is not stored": {write, codes.DeadlineExceeded, true},
		"a poll without a task": {read, codes.DeadlineExceeded, false},
	} {
		require.Equal(t, c.failed, failed(c.request, status.Error(c.code, "")), name)
	}
}

// A Temporal that is away for long is told of once by each who misses it.
func TestAnOutageIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		a := c.starts("a")
		passes(time.Minute)
		require.Zero(t, a.failed)
		c.set(func() { c.away = errors.New("away") })
		passes(time.Hour)
		require.Equal(t, 2, a.failed, "signs, and looks")
	})
}

// A worker whose signs do not arrive knows it before another one takes it for dead. It knows
// later what it had while they did not.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.set(func() { c.away = errors.New("away") })
		a := c.starts("a")
		passes(time.Minute)
		require.True(t, a.failover.CutOff(time.Now()), "it may be told of by none")
		c.set(func() { c.away = nil })
		b := c.starts("b")
		passes(10 * time.Second)
		before := time.Now()
		require.False(t, a.failover.CutOff(before))
		require.False(t, a.failover.CutOff(before.Add(-8*time.Second)), "its signs have arrived for so long")
		a.freeze()
		passes(tuning.SignTrusted + tuning.SignEvery/2)
		require.True(t, a.failover.CutOff(time.Now()))
		require.Empty(t, b.died, "it is known to a first")
		require.False(t, a.failover.Heard())
		a.thaw()
		passes(tuning.SignEvery / 2)
		require.False(t, a.failover.Heard(), "they look each second")
		passes(3 * tuning.SignEvery / 2)
		require.True(t, a.failover.Heard())
		require.False(t, a.failover.CutOff(time.Now()))
		require.True(t, a.failover.CutOff(before), "what it had then may be another's now")
	})
}

// Where Temporal keeps no signs, none is taken for dead, and none is cut off.
func TestNotCutOffWithoutSigns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.set(func() { c.away = serviceerror.NewUnimplemented("no signs") })
		a := c.starts("a")
		passes(time.Minute)
		require.False(t, a.failover.CutOff(time.Now()))
		require.True(t, a.failover.Heard(), "as far as can be")
	})
}

// A sign that arrives late is a gap, though it was sent in time.
func TestRow(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(after time.Duration) time.Time { return start.Add(after) }
	const trusted = tuning.SignTrusted
	for name, c := range map[string]struct {
		sent, answered time.Duration
		err            error
		unbroken       bool // since the start, at once after it
	}{
		"in time":          {trusted / 2, trusted, nil, true},
		"sent in time":     {trusted / 2, trusted + 1, nil, false},
		"late":             {2 * trusted, 2 * trusted, nil, false},
		"refused, and due": {trusted / 2, trusted / 2, errors.New("away"), true},
		"refused":          {2 * trusted, 2 * trusted, errors.New("away"), false},
	} {
		r := (*streak)(nil).next(start, start, nil).next(at(c.sent), at(c.answered), c.err)
		require.Equal(t, !c.unbroken, r.broken(start, at(c.answered)), name)
		if c.err == nil {
			require.False(t, r.broken(at(c.answered), at(c.answered)), name)
		}
	}
}

// Only of a worker that was seen alive and that did not stop is it known that it left no
// word of what it did. One that seems to be dead may only be slow: it may have rung what was
// due while it could trust in its last sign.
func TestCrashed(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(a *process)
		crashed bool
		lives   bool
	}{
		"alive":                 {func(*process) {}, false, true},
		"killed":                {func(a *process) { a.kill() }, true, false},
		"killed while it stops": {func(a *process) { a.failover.Stop(); passes(5 * time.Second); a.kill() }, false, false},
		"stopped":               {func(a *process) { a.stops(5 * time.Second) }, false, false},
		"frozen and thawed":     {func(a *process) { a.freeze(); passes(time.Minute); a.thaw() }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				a, b := cluster.starts("a"), cluster.starts("b")
				passes(10 * time.Second)
				last := time.Now()
				c.happens(a)
				passes(freedWithin)
				require.Equal(t, c.crashed, b.failover.Crashed("a", time.Now()), "it has asked since")
				require.False(t, b.failover.Crashed("a", last), "it may have rung that")
				require.False(t, b.failover.Crashed("b", time.Now()))
				require.False(t, b.failover.Crashed("never heard of", time.Now()))
				passes(lostWithin - freedWithin)
				require.Equal(t, c.crashed, b.failover.Crashed("a", last), "any attempt is over")
				require.Equal(t, c.lives, b.failover.Lives("a"))
				require.False(t, b.failover.Lives("never heard of"))
				b.freeze()
				passes(time.Minute)
				require.False(t, b.failover.Crashed("a", time.Now()), "what was known is old")
				require.False(t, b.failover.Lives("a"), "what was known is old")
			})
		})
	}
}
