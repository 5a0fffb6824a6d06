package verbs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/timer"
)

func (s *shell) dispatch() *cobra.Command {
	var follow bool
	c := &cobra.Command{Use: "dispatch " + timerArgument, Short: "Show a dispatch, or follow it to its end", Args: cobra.ExactArgs(1), Example: "wakecall dispatch order-close/rebuild --follow"}
	c.RunE = call(s, s.showDispatch, func(c *cobra.Command, wakecall *client.Client, args []string) (view timer.DispatchView, err error) {
		key, err := keyOf(args[0])
		if err != nil {
			return view, err
		}
		if !follow {
			return wakecall.Dispatches.Get(c.Context(), key)
		}
		bar := s.newBar()
		defer bar.clear()
		for now, err := range wakecall.Dispatches.Follow(c.Context(), key) {
			if err != nil {
				return view, err
			}
			view = now
			bar.show(string(view.Status), view.Done+view.Failed, view.Items)
		}
		return view, nil
	})
	c.Flags().BoolVar(&follow, "follow", false, "show how far it is until it has ended")
	return c
}

func (s *shell) showDispatch(view timer.DispatchView) {
	items, colour := "-", yellow
	if view.Items != nil {
		items = fmt.Sprint(*view.Items)
	}
	switch view.Status {
	case timer.DispatchDone:
		colour = green
	case timer.DispatchFailed, timer.DispatchExpired, timer.DispatchCancelled:
		colour = red
	default:
	}
	s.table([]string{s.coloured(plain, "STATUS"), "DISPATCH", "ITEMS", "DONE", "FAILED", "ON THE LADDER", "RATE"}, [][]string{{
		s.coloured(colour, string(view.Status)), view.String(), items, fmt.Sprint(view.Done), fmt.Sprint(view.Failed), fmt.Sprint(view.Retrying),
		fmt.Sprintf("%.1f/s", view.Achieved.LastSecond),
	}})
}
