package verbs

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/policy"
)

// emergencyVerbs are the commands on emergencies.
type emergencyVerbs struct{ *shell }

func (v emergencyVerbs) group() *cobra.Command {
	c := &cobra.Command{
		Use: "emergency", Short: "Show what is paused", Args: cobra.NoArgs, Example: "wakecall emergency",
		RunE: call(v.shell, v.showAll, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]policy.Emergency, error) {
			return wakecall.Emergency.List(c.Context())
		}),
	}
	c.AddCommand(v.order("pause", true), v.order("resume", false))
	return c
}

func (v emergencyVerbs) order(name string, stop bool) *cobra.Command {
	var order client.EmergencyOrder
	c := &cobra.Command{Use: name + " --everything | TYPE...", Short: strings.ToUpper(name[:1]) + name[1:] + " callbacks",
		Example: "wakecall emergency " + name + " order-close"}
	c.RunE = call(v.shell, v.showHeld, func(c *cobra.Command, wakecall *client.Client, args []string) (policy.Held, error) {
		if order.Everything == (len(args) > 0) {
			return policy.Held{}, program.Wrong(errors.New("give either --everything or business types"))
		}
		order.BusinessTypes = args
		if stop {
			paused, err := wakecall.Emergency.Pause(c.Context(), order)
			return policy.Held{Paused: paused}, err
		}
		return wakecall.Emergency.Resume(c.Context(), order)
	})
	c.Flags().BoolVar(&order.Everything, "everything", false, "all business types")
	c.Flags().StringVar(&order.Note, "note", "", "why")
	return c
}

// showHeld shows the pauses of callbacks, and notes if the list may be incomplete.
func (v emergencyVerbs) showHeld(held policy.Held) {
	if held.Incomplete {
		v.complain("More may be held back: Temporal did not answer.\n")
	}
	v.showAll(held.Paused)
}

func (v emergencyVerbs) showAll(paused []policy.Emergency) {
	var rows [][]string
	for _, e := range paused {
		what := e.BusinessType
		if e.Everything {
			what = "everything"
		}
		note := e.Note
		if e.ByPolicy {
			note = "paused by its policy"
		}
		rows = append(rows, []string{what, v.when(e.Since), e.Author, note})
	}
	v.table([]string{"PAUSED", "SINCE", "BY", "NOTE"}, rows)
}
