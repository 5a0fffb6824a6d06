package verbs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

const exampleDispatch = "order-close/rebuild"

func (s *shell) dispatch() *cobra.Command {
	return program.Group("dispatch", "Send callbacks for many items at one flat rate",
		s.startDispatch(), s.upload(), s.getDispatch(), s.listDispatches(), s.followDispatch(),
		s.pauseDispatch(), s.resumeDispatch(), s.rateDispatch(), s.cancelDispatch(), s.dispatchFailures(), s.retryDispatch())
}

// onDispatch returns a command on one dispatch.
func (s *shell) onDispatch(c *cobra.Command, do func(*cobra.Command, client.Dispatches, wire.Key) (dispatch.View, error)) *cobra.Command {
	c.Example = "wakecall dispatch " + c.Name() + " " + exampleDispatch
	c.Use += " " + timerArgument
	c.Args = cobra.ExactArgs(1)
	c.RunE = call(s, s.showDispatch, func(c *cobra.Command, wakecall *client.Client, args []string) (view dispatch.View, err error) {
		key, err := keyOf(args[0])
		if err != nil {
			return view, err
		}
		return do(c, wakecall.Dispatches, key)
	})
	return c
}

func (s *shell) getDispatch() *cobra.Command {
	var last dispatch.View
	return failing(s.onDispatch(&cobra.Command{Use: "get", Short: "Show a dispatch"},
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
		return whole(*last)
	}
	return c
}

func (s *shell) listDispatches() *cobra.Command {
	var filter client.DispatchFilter
	var limit int
	c := &cobra.Command{Use: "list", Short: "List dispatches", Args: cobra.NoArgs, Example: "wakecall dispatch list --status running"}
	c.RunE = call(s, s.showDispatches, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]dispatch.View, error) {
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

func (s *shell) changingDispatch(c *cobra.Command, do dispatchChange) *cobra.Command {
	var wait string
	c = s.onDispatch(c, func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
		patience, err := waitOf(wait)
		if err != nil {
			return view, err
		}
		view, pending, err := do(c.Context(), dispatches, key, patience)
		s.notePending(pending)
		return view, err
	})
	waitFlag(c, &wait)
	return c
}

func (s *shell) pauseDispatch() *cobra.Command {
	return s.changingDispatch(&cobra.Command{Use: "pause", Short: "Pause a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			return dispatches.Pause(ctx, key, wait)
		})
}

func (s *shell) resumeDispatch() *cobra.Command {
	return s.changingDispatch(&cobra.Command{Use: "resume", Short: "Resume a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			return dispatches.Resume(ctx, key, wait)
		})
}

func (s *shell) cancelDispatch() *cobra.Command {
	return s.changingDispatch(&cobra.Command{Use: "cancel", Short: "Cancel a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			return dispatches.Cancel(ctx, key, wait)
		})
}

func (s *shell) rateDispatch() *cobra.Command {
	var rate float64
	c := s.changingDispatch(&cobra.Command{Use: "rate", Short: "Change the rate of a dispatch"},
		func(ctx context.Context, dispatches client.Dispatches, key wire.Key, wait client.Wait) (dispatch.View, bool, error) {
			view, pending, err := dispatches.SetRate(ctx, key, rate, wait)
			s.noteRate(view)
			return view, pending, err
		})
	one := c.RunE
	c.Use, c.Args, c.Example = "rate "+timerArgument+" PER-SECOND", cobra.ExactArgs(2), c.Example+" 50"
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if rate, err = strconv.ParseFloat(args[1], 64); err != nil {
			return program.Wrong(fmt.Errorf("%s is not a number of items a second", args[1]))
		}
		return one(c, args[:1])
	}
	return c
}

func (s *shell) retryDispatch() *cobra.Command {
	return s.onDispatch(&cobra.Command{Use: "retry", Short: "Send the failed items again"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (dispatch.View, error) {
			view, retried, err := dispatches.RetryFailures(c.Context(), key)
			if err == nil {
				s.complain("%d items are sent again.\n", retried)
			}
			return view, err
		})
}

func (s *shell) followDispatch() *cobra.Command {
	var last dispatch.View
	return failing(s.onDispatch(&cobra.Command{Use: "follow", Short: "Follow a dispatch to its end"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
			last, err = s.followed(c.Context(), dispatches, key)
			return last, err
		}), &last)
}

// followed shows the progress of a dispatch until it has ended.
func (s *shell) followed(ctx context.Context, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
	bar := s.newBar()
	defer bar.clear()
	for now, err := range dispatches.Follow(ctx, key) {
		if err != nil && ctx.Err() != nil {
			s.complain("\nThe dispatch continues: wakecall dispatch follow %[1]s, or wakecall dispatch cancel %[1]s\n", key)
		}
		if err != nil {
			return view, err
		}
		view = now
		bar.show(string(view.Status), view.Done+view.Failed, view.Items)
	}
	return view, nil
}

// whole returns an error if a dispatch has ended without reaching all of its items.
func whole(view dispatch.View) error {
	switch view.Status.With(view.Failed) {
	case dispatch.Failed, dispatch.Expired, dispatch.Cancelled:
		return program.Partial(fmt.Errorf("the dispatch is %s", view.Status))
	case dispatch.DoneWithFailures:
		return program.Partial(fmt.Errorf("%d items failed: see wakecall dispatch failures %s", view.Failed, view.Key))
	default:
		return nil
	}
}

// dispatchFailures prints each line as it arrives: there may be many thousands.
func (s *shell) dispatchFailures() *cobra.Command {
	return &cobra.Command{
		Use: "failures " + timerArgument, Short: "Show the failed items", Args: cobra.ExactArgs(1),
		Example: "wakecall dispatch failures " + exampleDispatch,
		RunE: func(c *cobra.Command, args []string) error {
			key, err := keyOf(args[0])
			if err != nil {
				return err
			}
			wakecall, err := s.client()
			if err != nil {
				return err
			}
			return printEach(s, wakecall.Dispatches.Failures(c.Context(), key), func(f dispatch.Failure) string {
				return fmt.Sprintf("%s  %s  %s", s.coloured(red, "failed"), s.safe(f.ID), s.safe(failureOf(f.Failure)))
			})
		},
	}
}

func (s *shell) showDispatch(view dispatch.View) { s.showDispatches([]dispatch.View{view}) }

func (s *shell) showDispatches(views []dispatch.View) {
	var rows [][]string
	for _, view := range views {
		items := "-"
		if view.Items != nil {
			items = fmt.Sprint(*view.Items)
		}
		rows = append(rows, []string{
			s.dispatchStatus(view.Status) + stopping(view.CancelRequested), view.String(), items, fmt.Sprint(view.Done),
			fmt.Sprint(view.Failed), fmt.Sprint(view.Retrying),
			fmt.Sprintf("%.1f/s", view.Achieved.LastSecond), behind(view),
		})
	}
	s.table([]string{s.coloured(plain, "STATUS"), "DISPATCH", "ITEMS", "DONE", "FAILED", "RETRYING", "RATE", "BEHIND"}, rows)
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
func (s *shell) noteRate(view dispatch.View) {
	if view.Expected > 0 {
		s.complain("The workers have not sent %g items a second yet: expect %g.\n", view.PerSecond, view.Expected)
	}
}

func (s *shell) dispatchStatus(status dispatch.Status) string {
	colour := yellow
	switch status {
	case dispatch.Done:
		colour = green
	case dispatch.DoneWithFailures, dispatch.Failed, dispatch.Expired, dispatch.Cancelled:
		colour = red
	default:
	}
	return s.coloured(colour, string(status))
}
