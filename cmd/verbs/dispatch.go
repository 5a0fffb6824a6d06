package verbs

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

const exampleDispatch = "order-close/rebuild"

// dispatchVerbs are the commands on dispatches.
type dispatchVerbs struct{ *shell }

func (v dispatchVerbs) group() *cobra.Command {
	return program.Group("dispatch", "Send callbacks for many items at one flat rate",
		v.start(), v.upload(), v.get(), v.list(), v.follow(),
		v.pause(), v.resume(), v.rate(), v.cancel(), v.failures(), v.retry())
}

// dispatchCall makes a call on one dispatch.
type dispatchCall func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (dispatch.View, error)

// onDispatch returns a command on one dispatch.
func (v dispatchVerbs) onDispatch(c *cobra.Command, do dispatchCall) *cobra.Command {
	c.Example = "wakecall dispatch " + c.Name() + " " + exampleDispatch
	c.Use += " " + timerArgument
	c.Args = cobra.ExactArgs(1)
	c.RunE = call(v.shell, v.show, func(c *cobra.Command, wakecall *client.Client, args []string) (view dispatch.View, err error) {
		key, err := keyOf(args[0])
		if err != nil {
			return view, err
		}
		return do(c, wakecall.Dispatches, key)
	})
	return c
}

func (v dispatchVerbs) get() *cobra.Command {
	var last dispatch.View
	return failing(v.onDispatch(&cobra.Command{Use: "get", Short: "Show a dispatch"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
			last, err = dispatches.Get(c.Context(), key)
			return last, err
		}), &last)
}

// failing makes a command fail after it has shown a dispatch, unless that has reached all of its
// items.
func failing(c *cobra.Command, last *dispatch.View) *cobra.Command {
	show := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := show(c, args); err != nil {
			return err
		}
		return incomplete(*last)
	}
	return c
}

func (v dispatchVerbs) list() *cobra.Command {
	var filter client.DispatchFilter
	var limit int
	c := &cobra.Command{Use: "list", Short: "List dispatches", Args: cobra.NoArgs, Example: "wakecall dispatch list --status running"}
	c.RunE = call(v.shell, v.showAll, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]dispatch.View, error) {
		return collect(wakecall.Dispatches.List(c.Context(), filter), limit)
	})
	c.Flags().StringVar(&filter.BusinessType, "type", "", "only dispatches of this business type")
	c.Flags().StringVar((*string)(&filter.Status), "status", "", "only dispatches in this status")
	limitFlag(c, &limit)
	completeWith(c, "status", dispatch.Statuses())
	return c
}

// dispatchChange changes a dispatch. pending reports that no worker has applied it yet.
type dispatchChange func(
	ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait,
) (view dispatch.View, pending bool, err error)

func (v dispatchVerbs) changing(c *cobra.Command, do dispatchChange) *cobra.Command {
	var wait string
	c = v.onDispatch(c, func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
		timeout, err := waitOf(wait)
		if err != nil {
			return view, err
		}
		view, pending, err := do(c.Context(), dispatches, key, timeout)
		v.notePending(pending)
		return view, err
	})
	waitFlag(c, &wait)
	return c
}

func (v dispatchVerbs) pause() *cobra.Command {
	return v.changing(&cobra.Command{Use: "pause", Short: "Pause a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			return dispatches.Pause(ctx, key, wait)
		})
}

func (v dispatchVerbs) resume() *cobra.Command {
	return v.changing(&cobra.Command{Use: "resume", Short: "Resume a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			return dispatches.Resume(ctx, key, wait)
		})
}

func (v dispatchVerbs) cancel() *cobra.Command {
	return v.changing(&cobra.Command{Use: "cancel", Short: "Cancel a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			return dispatches.Cancel(ctx, key, wait)
		})
}

func (v dispatchVerbs) rate() *cobra.Command {
	var rate float64
	c := v.changing(&cobra.Command{Use: "rate", Short: "Change the rate of a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			view, pending, err := dispatches.SetRate(ctx, key, rate, wait)
			v.noteRate(view)
			return view, pending, err
		})
	run := c.RunE
	c.Use, c.Args, c.Example = "rate "+timerArgument+" PER-SECOND", cobra.ExactArgs(2), c.Example+" 50"
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if rate, err = strconv.ParseFloat(args[1], 64); err != nil || math.IsNaN(rate) || math.IsInf(rate, 0) {
			return program.Wrong(fmt.Errorf("%s is not a number of items a second", args[1]))
		}
		return run(c, args[:1])
	}
	return c
}

func (v dispatchVerbs) retry() *cobra.Command {
	return v.onDispatch(&cobra.Command{Use: "retry", Short: "Send the failed items again"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (dispatch.View, error) {
			view, retried, err := dispatches.RetryFailures(c.Context(), key)
			if err == nil {
				v.complain("%d items are sent again.\n", retried)
			}
			return view, err
		})
}

func (v dispatchVerbs) follow() *cobra.Command {
	var last dispatch.View
	return failing(v.onDispatch(&cobra.Command{Use: "follow", Short: "Follow a dispatch to its end"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
			last, err = v.readToEnd(c.Context(), dispatches, key)
			return last, err
		}), &last)
}

// readToEnd shows the progress of a dispatch until it has ended.
func (v dispatchVerbs) readToEnd(ctx context.Context, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
	bar := v.newBar()
	defer bar.clear()
	for now, err := range dispatches.Follow(ctx, key) {
		if err != nil && ctx.Err() != nil {
			v.complain("\nThe dispatch continues: wakecall dispatch follow %[1]s, or wakecall dispatch cancel %[1]s\n", key)
		}
		if err != nil {
			return view, err
		}
		view = now
		bar.show(string(view.Status), view.Done+view.Failed, view.Items)
	}
	return view, nil
}

// incomplete returns an error if a dispatch has ended without reaching all of its items.
func incomplete(view dispatch.View) error {
	switch view.Status.With(view.Failed) {
	case dispatch.Failed, dispatch.Expired, dispatch.Cancelled:
		return program.Partial(fmt.Errorf("the dispatch is %s", view.Status))
	case dispatch.DoneWithFailures:
		return program.Partial(fmt.Errorf("%d items failed: see wakecall dispatch failures %s", view.Failed, view.Key))
	default:
		return nil
	}
}

// failures prints each line as it arrives: there may be many thousands.
func (v dispatchVerbs) failures() *cobra.Command {
	return &cobra.Command{
		Use: "failures " + timerArgument, Short: "Show the failed items", Args: cobra.ExactArgs(1),
		Example: "wakecall dispatch failures " + exampleDispatch,
		RunE: func(c *cobra.Command, args []string) error {
			key, err := keyOf(args[0])
			if err != nil {
				return err
			}
			wakecall, err := v.client()
			if err != nil {
				return err
			}
			return printEach(v.shell, wakecall.Dispatches.Failures(c.Context(), key), func(f dispatch.Failure) string {
				return fmt.Sprintf("%s  %s  %s", v.coloured(red, "failed"), v.safe(f.ID), v.safe(failureOf(f.Failure)))
			})
		},
	}
}

func (v dispatchVerbs) show(view dispatch.View) { v.showAll([]dispatch.View{view}) }

func (v dispatchVerbs) showAll(views []dispatch.View) {
	var rows [][]string
	for _, view := range views {
		items := "-"
		if view.Items != nil {
			items = fmt.Sprint(*view.Items)
		}
		rows = append(rows, []string{
			v.statusOf(view.Status) + stopping(view.CancelRequested), view.String(), items, fmt.Sprint(view.Done),
			fmt.Sprint(view.Failed), fmt.Sprint(view.Retrying),
			fmt.Sprintf("%.1f/s", view.Achieved.LastSecond), behind(view),
		})
	}
	v.table([]string{v.coloured(plain, "STATUS"), "DISPATCH", "ITEMS", "DONE", "FAILED", "RETRYING", "RATE", "BEHIND"}, rows)
}

// behind returns why a dispatch is below its rate, or does not send.
func behind(view dispatch.View) string {
	switch {
	case view.WaitsFor != "":
		return "waits for " + string(view.WaitsFor)
	case view.BehindWhy != "":
		return "short of " + string(view.BehindWhy) + " since " + view.BehindSince.String()
	default:
		return "-"
	}
}

// noteRate notes that a dispatch will probably not reach its rate.
func (v dispatchVerbs) noteRate(view dispatch.View) {
	if view.Expected > 0 {
		v.complain("The workers have not sent %g items a second yet: expect %g.\n", view.PerSecond, view.Expected)
	}
}

func (v dispatchVerbs) statusOf(status dispatch.Status) string {
	colour := yellow
	switch status {
	case dispatch.Done:
		colour = green
	case dispatch.DoneWithFailures, dispatch.Failed, dispatch.Expired, dispatch.Cancelled:
		colour = red
	default:
	}
	return v.coloured(colour, string(status))
}
