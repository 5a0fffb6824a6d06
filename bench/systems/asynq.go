package systems

import (
	"context"
	"encoding/json"
	"os/exec"

	"github.com/hibiken/asynq"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// asynqQueue is Asynq, a job queue in Redis, set up as in its README. Its Redis syncs each
// write to the disk before it answers, since an acknowledged timer must not be lost.
type asynqQueue struct {
	stage  *stage.Stage
	redis  *process.Process
	dir    string
	client *asynq.Client
	server *asynq.Server
	caller *caller
}

const asynqTask = "ring"

// Start brings up Redis, a client and a server.
func (a *asynqQueue) Start(s *stage.Stage, receiver string) error {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return err
	}
	addr := loopback.Addr()
	a.stage, a.dir = s, s.TempDir()
	err = s.Do(func() {
		a.redis = process.Start(s, process.Command{Path: path, Ready: "tcp://" + addr, Args: []string{
			"--bind", loopback.Host(), "--port", loopback.Port(addr), "--dir", a.dir,
			"--save", "", "--appendonly", "yes", "--appendfsync", "always",
		}})
	})
	if err != nil {
		return err
	}
	redis := asynq.RedisClientOpt{Addr: addr}
	a.caller, a.client = newCaller(receiver), asynq.NewClient(redis)
	// The README's example has a concurrency of 10; this is River's.
	a.server = asynq.NewServer(redis, asynq.Config{Concurrency: jobs, LogLevel: asynq.FatalLevel})
	return a.server.Start(asynq.HandlerFunc(a.work))
}

func (a *asynqQueue) work(ctx context.Context, task *asynq.Task) error {
	var timer Timer
	if err := json.Unmarshal(task.Payload(), &timer); err != nil {
		return err
	}
	return a.caller.call(ctx, timer.ID, timer.Due)
}

// Add enqueues a task under the timer's id.
func (a *asynqQueue) Add(ctx context.Context, timer Timer) error {
	body, err := json.Marshal(timer)
	if err != nil {
		return err
	}
	_, err = a.client.EnqueueContext(ctx, asynq.NewTask(asynqTask, body), asynq.ProcessAt(timer.Due), asynq.TaskID(timer.ID))
	return err
}

// AddBatch enqueues tasks concurrently: Asynq has no call for batches.
func (a *asynqQueue) AddBatch(ctx context.Context, timers []Timer) (int, error) {
	return each(ctx, timers, a.Add)
}

// Kill ends Redis. The server in this process lives on, and finds its tasks again.
func (a *asynqQueue) Kill() error { return a.stage.Do(a.redis.Kill) }

// Revive starts Redis again.
func (a *asynqQueue) Revive() error { return a.stage.Do(func() { a.redis = a.redis.Again() }) }

// Counters returns the counters of Redis's files: Redis has no transactions to count.
func (a *asynqQueue) Counters(context.Context) (Counters, error) { return dirCounters(a.dir) }

// Close stops working.
func (a *asynqQueue) Close() error {
	if a.server != nil {
		a.server.Shutdown()
	}
	if a.client != nil {
		return a.client.Close()
	}
	return nil
}
