package remote

import (
	"context"
	"errors"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"time"

	"github.com/wakecall/wakecall/bench/disk"
	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/bench/subject"
	"github.com/wakecall/wakecall/bench/usage"
)

// Child is the side with the subject. The other side calls its exported methods, one at a time.
type Child struct {
	ctx context.Context
	// create makes a subject by its name.
	create  func(name string) (subject.Subject, error)
	stage   *stage.Stage
	subject subject.Subject
	runner  *scenario.Runner
	before  mark
	// open is how many executions had not ended before the last Run.
	open int64
	// booking is the booking of the last Run.
	booking scenario.Booking
}

// mark is the begin or the end of a scenario.
type mark struct {
	usage    usage.Usage
	counters subject.Counters
}

// Serve answers the other side's calls until it hangs up. The subject is created by its name.
func Serve(ctx context.Context, pipe io.ReadWriteCloser, create func(name string) (subject.Subject, error)) (err error) {
	child := &Child{ctx: ctx, create: create, stage: stage.New(ctx)}
	defer func() { err = errors.Join(err, child.close()) }()
	server := rpc.NewServer()
	if err := server.RegisterName(service, child); err != nil {
		return err
	}
	server.ServeCodec(jsonrpc.NewServerCodec(pipe))
	return nil
}

func (c *Child) close() error {
	var err error
	if c.subject != nil {
		err = c.subject.Close()
	}
	return errors.Join(err, c.stage.Close())
}

// Start starts the subject.
func (c *Child) Start(args StartArgs, started *Started) (err error) {
	if c.subject, err = c.create(args.Subject); err != nil {
		return err
	}
	own, err := c.disk(args.Disk)
	if err != nil {
		return err
	}
	c.runner = scenario.NewRunner(c.subject, own)
	if err := c.subject.Start(c.stage, args.Receiver); err != nil {
		return err
	}
	if queuer, can := c.subject.(subject.Queuer); can {
		started.Queue = queuer.Queue()
	}
	return nil
}

// disk mounts a disk for all temporary files from now on, if it is wanted and allowed.
func (c *Child) disk(wanted bool) (scenario.Disk, error) {
	if !wanted {
		return nil, nil
	}
	own, err := disk.New(c.stage)
	if errors.Is(err, disk.ErrNotRoot) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return own, os.Setenv("TMPDIR", own.Dir)
}

// Run makes the load of a plan.
func (c *Child) Run(plan scenario.Plan, booked *Booked) (err error) {
	if tracer, can := c.subject.(subject.Tracer); can {
		if c.open, err = tracer.Open(c.ctx); err != nil {
			return err
		}
	}
	if c.before, err = c.mark(); err != nil {
		return err
	}
	if booked.Booking, err = c.runner.Run(c.ctx, plan); err != nil {
		return err
	}
	c.booking = booked.Booking
	now, err := c.mark()
	booked.Pending, booked.Counters = now.usage, now.counters.Sub(c.before.counters)
	return err
}

func (c *Child) mark() (m mark, err error) {
	if m.usage, err = usage.Own(); err != nil {
		return m, err
	}
	m.counters, err = c.subject.Counters(c.ctx)
	return m, err
}

// Spent returns the usage since the last Run began. The trails are those of the given
// timers, which have all rung.
func (c *Child) Spent(rung []subject.Timer, spent *Spent) error {
	c.awaitRecorded()
	now, err := c.mark()
	if err != nil {
		return err
	}
	*spent = Spent{CPU: now.usage.Since(c.before.usage), Memory: now.usage.Memory, Counters: now.counters.Sub(c.before.counters)}
	if spent.Trails, err = c.trails(rung); err != nil {
		return err
	}
	spent.Recurred, err = c.recurred()
	return err
}

// recurred sums up the writes for the recurring timers of the last Run.
func (c *Child) recurred() (all subject.Recurred, err error) {
	recurrer, can := c.subject.(subject.Recurrer)
	if !can || c.booking.Every == 0 {
		return all, nil
	}
	for _, timer := range c.booking.Expected {
		one, err := recurrer.Recurred(c.ctx, timer.ID)
		if err != nil {
			return all, err
		}
		all = all.Add(one)
	}
	return all, nil
}

const (
	// settleTime is how long the record of the rings is awaited.
	settleTime = time.Minute
	lookEvery  = 500 * time.Millisecond
)

// awaitRecorded waits until the open executions are as many as before the last Run, plus the timers
// that it left.
func (c *Child) awaitRecorded() {
	tracer, can := c.subject.(subject.Tracer)
	if !can {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, settleTime)
	defer cancel()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if open, err := tracer.Open(ctx); err == nil && open <= c.open+int64(c.booking.Ahead) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

func (c *Child) trails(timers []subject.Timer) (trails []subject.Trail, err error) {
	tracer, can := c.subject.(subject.Tracer)
	if !can {
		return nil, nil
	}
	for _, timer := range timers {
		trail, err := tracer.Trail(c.ctx, timer)
		if err != nil {
			return nil, err
		}
		trails = append(trails, trail)
	}
	return trails, nil
}
