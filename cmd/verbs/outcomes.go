package verbs

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/outcomes"
)

func (v statsVerbs) outcomes() *cobra.Command {
	var within time.Duration
	var all bool
	var options client.OutcomesOptions
	c := &cobra.Command{
		Use: "outcomes [TYPE]", Short: "Show how timers ended and how late they rang, minute by minute", Args: typeAtMost,
		Example: "wakecall outcomes order-close --within 24h --step 1h",
	}
	c.RunE = call(v.shell, func(o outcomes.Outcomes) { v.showOutcomes(o, all) },
		func(c *cobra.Command, wakecall *client.Client, args []string) (outcomes.Outcomes, error) {
			if len(args) > 0 {
				options.BusinessType = args[0]
			}
			if within > 0 {
				options.From = v.Now().Add(-within)
			}
			return wakecall.Timers.Outcomes(c.Context(), options)
		})
	addDuration(c, &within, "within", "how far back, 1h by default, 25h at most")
	addDuration(c, &options.Step, "step", "how long each step is, 1m by default")
	c.Flags().BoolVar(&all, "all", false, "empty steps as well")
	return c
}

func (v statsVerbs) showOutcomes(o outcomes.Outcomes, all bool) {
	late := func(ms *float64) string {
		if ms == nil {
			return "-"
		}
		return strconv.FormatFloat(*ms, 'f', 1, 64) + "ms"
	}
	var rows [][]string
	for _, step := range o.Steps {
		known, retried := &outcomes.Lateness{}, "-"
		if step.Lateness != nil {
			known, retried = step.Lateness, fmt.Sprint(step.Retried)
		}
		if step.Counts == (outcomes.Counts{}) && known.Attempts == 0 && !all {
			continue
		}
		colour := plain
		if step.Failed > 0 {
			colour = red
		}
		rows = append(rows, []string{
			v.coloured(colour, v.when(step.At)), fmt.Sprint(step.Delivered), fmt.Sprint(step.Failed), fmt.Sprint(step.Expired),
			retried, late(known.P50MS), late(known.P99MS), late(known.WorstMS),
		})
	}
	v.table([]string{v.coloured(plain, "FROM"), "DELIVERED", "FAILED", "EXPIRED", "RETRIED", "P50", "P99", "WORST"}, rows)
}
