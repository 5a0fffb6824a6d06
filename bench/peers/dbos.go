package main

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"golang.org/x/sync/errgroup"
)

// dbosPeer is DBOS as in its tutorial on workflows: a durable sleep, then a step. Every pending
// timer is a workflow that has started, and so a goroutine of this process. The next process
// recovers them from the database, under the same executor and version.
type dbosPeer struct {
	context dbos.Context
	caller  *caller
}

const dbosName = "bench"

func startDBOS(ctx context.Context, s settings) (peer, error) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	app, err := dbos.NewContext(ctx, dbos.Config{
		AppName: dbosName, DatabaseURL: s.database, ApplicationVersion: dbosName, ExecutorID: dbosName, Logger: quiet,
	})
	if err != nil {
		return nil, err
	}
	d := &dbosPeer{context: app, caller: newCaller(s.receiver)}
	dbos.RegisterWorkflow(app, d.workflow, dbos.WithWorkflowName(dbosName))
	return d, dbos.Launch(app)
}

// workflow sleeps until a timer is due, and rings.
func (d *dbosPeer) workflow(ctx dbos.Context, t timer) (string, error) {
	if _, err := dbos.Sleep(ctx, time.Until(t.Due)); err != nil {
		return "", err
	}
	return dbos.RunAsStep(ctx, func(ctx context.Context) (string, error) {
		return "", d.caller.ring(ctx, t.ID)
	})
}

// add starts workflows, several at once: DBOS has no call for batches.
func (d *dbosPeer) add(_ context.Context, timers []timer) (int, error) {
	var group errgroup.Group
	group.SetLimit(clients)
	var started atomic.Int64
	for _, t := range timers {
		group.Go(func() error {
			if _, err := dbos.RunWorkflow(d.context, d.workflow, t, dbos.WithWorkflowID(t.ID)); err != nil {
				return err
			}
			started.Add(1)
			return nil
		})
	}
	err := group.Wait()
	return int(started.Load()), err
}

func (d *dbosPeer) close() error {
	defer d.caller.close()
	return dbos.Shutdown(d.context, closeTime)
}
