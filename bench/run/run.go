// Package run visits the subjects, one at a time, in several rounds.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/wakecall/wakecall/bench/receiver"
	"github.com/wakecall/wakecall/bench/remote"
	"github.com/wakecall/wakecall/bench/report"
	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
	"github.com/wakecall/wakecall/bench/usage"
)

// Options are the options of a run.
type Options struct {
	Subjects []string
	Plans    []scenario.Plan
	// Rounds are interleaved, so that a disturbance of the machine affects all subjects alike.
	Rounds int
	// Grace is how long after its due time a ring is awaited, Watch how long after the last
	// one duplicates are counted.
	Grace, Watch time.Duration
	// Progress receives messages about the progress.
	Progress io.Writer
}

// warmUp comes first in every visit: connections, caches and pollers exist when the first
// figure is taken.
var warmUp = scenario.Plan{Name: "warm-up", Kind: scenario.Ring, Timers: 100, Over: time.Second}

// sample is the number of a scenario's timers to look up in Temporal.
const sample = 20

// All makes the rounds. It records a failure in the result, and goes on with the rest.
func All(ctx context.Context, options Options) (results []report.Result, err error) {
	for round := range options.Rounds {
		for _, name := range options.Subjects {
			if ctx.Err() != nil {
				return results, ctx.Err()
			}
			for _, plans := range visits(options.Plans) {
				v := visit{Options: options, subject: name, round: round}
				v.Plans = plans
				visited, failed := v.make(ctx)
				results, err = append(results, visited...), errors.Join(err, failed)
			}
		}
	}
	return results, err
}

// visits divides plans: a crash has a visit of its own, so that it disturbs no other scenario.
func visits(plans []scenario.Plan) (all [][]scenario.Plan) {
	var quiet []scenario.Plan
	for _, plan := range plans {
		if plan.Kind == scenario.Crash {
			all = append(all, []scenario.Plan{plan})
			continue
		}
		quiet = append(quiet, plan)
	}
	if len(quiet) > 0 || len(all) == 0 {
		all = append([][]scenario.Plan{quiet}, all...)
	}
	return all
}

// power reports whether a plan cuts the power.
func power(plan scenario.Plan) bool { return plan.Power }

// visit is one start of a subject with all scenarios.
type visit struct {
	Options
	subject  string
	round    int
	receiver *receiver.Receiver
	child    *remote.Parent
}

func (v *visit) make(ctx context.Context) (results []report.Result, err error) {
	v.say("starting")
	if v.receiver, err = receiver.New(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.receiver.Close()) }()
	args := remote.StartArgs{Subject: v.subject, Receiver: v.receiver.URL, Disk: slices.ContainsFunc(v.Plans, power)}
	if v.child, err = remote.Start(ctx, args); err != nil {
		return nil, fmt.Errorf("%s: %w", v.subject, err)
	}
	defer func() { err = errors.Join(err, v.child.Close()) }()
	if queue := v.child.Queue; queue.URL != "" {
		stop, err := v.receiver.Consume(queue.URL, queue.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.subject, err)
		}
		defer stop()
	}
	if _, err := v.play(ctx, warmUp); err != nil {
		return nil, fmt.Errorf("%s, warm-up: %w", v.subject, err)
	}
	for _, plan := range v.Plans {
		result, failed := v.play(ctx, plan)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s, %s: %w", v.subject, plan.Name, failed))
			continue
		}
		v.say(plan.Name + ": " + result.String())
		results = append(results, result)
	}
	return results, err
}

func (v *visit) say(text string) {
	_, _ = fmt.Fprintf(v.Progress, "%s  round %d  %s  %s\n", time.Now().Format(time.TimeOnly), v.round+1, v.subject, text)
}

// play runs one scenario.
func (v *visit) play(ctx context.Context, plan scenario.Plan) (result report.Result, err error) {
	v.receiver.Drain()
	others, err := usage.Watch()
	if err != nil {
		return result, err
	}
	booked, err := v.child.Run(plan)
	if err != nil {
		return result, err
	}
	if booked.Booking.Skipped != "" {
		return report.Result{Subject: v.subject, Plan: plan, Round: v.round, Outcome: scenario.Judge(booked.Booking, nil)}, nil
	}
	v.await(ctx, booked.Booking)
	spent, err := v.child.Spent(sampleOf(plan, booked.Booking.Expected))
	if err != nil {
		return result, err
	}
	share, err := others.Share()
	if err != nil {
		return result, err
	}
	wait(ctx, v.Watch)
	result = report.Result{
		Subject: v.subject, Plan: plan, Round: v.round,
		Pending: booked.Pending.Memory, Stored: booked.Counters.Bytes, Spent: spent, Others: share,
		Outcome: scenario.Judge(booked.Booking, v.receiver.Drain()),
	}
	return result, nil
}

// await returns when all have rung, or when the grace is over.
func (v *visit) await(ctx context.Context, booking scenario.Booking) {
	if booking.Every > 0 {
		return // the scenario itself has waited
	}
	ids, last := make([]string, len(booking.Expected)), time.Now()
	for i, timer := range booking.Expected {
		ids[i] = timer.ID
		if timer.Due.After(last) {
			last = timer.Due
		}
	}
	ctx, cancel := context.WithDeadline(ctx, last.Add(v.Grace))
	defer cancel()
	v.receiver.Await(ctx, ids)
}

// sampleOf takes some timers, evenly. It leaves out changed and recurring ones, which cost
// more than one ring.
func sampleOf(plan scenario.Plan, timers []subject.Timer) (some []subject.Timer) {
	if plan.Kind != scenario.Ring || plan.Mass {
		return nil
	}
	step := max(len(timers)/sample, 1)
	for i := 0; i < len(timers); i += step {
		some = append(some, timers[i])
	}
	return some
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
