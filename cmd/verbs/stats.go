package verbs

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/timer"
)

// statsVerbs are the commands that count timers.
type statsVerbs struct{ *shell }

func (v statsVerbs) stats() *cobra.Command {
	var businessType string
	c := &cobra.Command{Use: "stats", Short: "Count timers by status and business type", Args: cobra.NoArgs,
		Example: "wakecall stats --type order-close"}
	c.RunE = call(v.shell, v.showStats, func(c *cobra.Command, wakecall *client.Client, _ []string) (timer.Stats, error) {
		return wakecall.Timers.Stats(c.Context(), businessType)
	})
	c.Flags().StringVar(&businessType, "type", "", "only timers of this business type")
	return c
}

func (v statsVerbs) showStats(stats timer.Stats) {
	row := func(name string, n timer.StatusCounts) []string {
		row := []string{name}
		for _, count := range []int{n.Scheduled, n.Paused, n.Delivering, n.Delivered, n.Failed, n.Expired, n.Cancelled} {
			row = append(row, fmt.Sprint(count))
		}
		return row
	}
	var rows [][]string
	for _, one := range stats.BusinessTypes {
		rows = append(rows, row(one.BusinessType, one.Timers))
	}
	rows = append(rows, row("(all)", stats.Timers))
	v.table([]string{"TYPE", "SCHEDULED", "PAUSED", "DELIVERING", "DELIVERED", "FAILED", "EXPIRED", "CANCELLED"}, rows)
}

func (v statsVerbs) slo() *cobra.Command {
	var options client.ObjectivesOptions
	c := &cobra.Command{
		Use: "slo [TYPE]", Short: "Show how punctual timers were, and what is left of the error budget", Args: typeAtMost,
		Example: "wakecall slo order-close --window 24h --target 0.99",
	}
	c.RunE = call(v.shell, v.showObjectives, func(c *cobra.Command, wakecall *client.Client, args []string) (client.Objectives, error) {
		if len(args) > 0 {
			options.BusinessType = args[0]
		}
		return wakecall.Timers.Objectives(c.Context(), options)
	})
	addDuration(c, &options.Window, "window", "how far to look back, 720h by default")
	c.Flags().Float64Var(&options.Target, "target", 0, "the share of timers that are to ring on time, 0.999 by default")
	return c
}

func (v statsVerbs) showObjectives(objectives client.Objectives) {
	share := func(value *float64) string {
		if value == nil {
			return "-"
		}
		return fmt.Sprintf("%.3f %%", 100**value)
	}
	lateness := func(ms *int64) string {
		if ms == nil {
			return "-"
		}
		return (time.Duration(*ms) * time.Millisecond).String()
	}
	open := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	var rows [][]string
	for _, r := range objectives.BusinessTypes {
		colour := plain
		if r.BudgetLeft != nil && *r.BudgetLeft < 0 {
			colour = red
		}
		rows = append(rows, []string{
			v.coloured(colour, r.BusinessType), share(r.Share), lateness(r.P50MS), lateness(r.P99MS), lateness(r.WorstMS), share(r.BudgetLeft),
			fmt.Sprint(r.Booked), fmt.Sprint(r.Bytes), fmt.Sprint(r.Rung), fmt.Sprint(r.Unsent), fmt.Sprint(r.Missed),
			fmt.Sprint(r.Failed), fmt.Sprint(r.Expired), fmt.Sprint(r.Attempts), open(r.Open),
		})
	}
	v.table([]string{
		v.coloured(plain, "TYPE"), "ON TIME", "P50", "P99", "WORST", "BUDGET LEFT", "BOOKED", "BYTES", "RUNG", "UNSENT", "MISSED",
		"FAILED", "EXPIRED", "ATTEMPTS", "OPEN",
	}, rows)
}

func (v statsVerbs) forecast() *cobra.Command {
	var within time.Duration
	var options client.ForecastOptions
	var all bool
	c := &cobra.Command{
		Use: "forecast TYPE", Short: "Show how many timers fall due in the time ahead", Args: cobra.ExactArgs(1),
		Example: "wakecall forecast order-close --within 4h --step 5m",
	}
	c.RunE = call(v.shell, func(f forecast.Forecast) { v.showForecast(f, all) },
		func(c *cobra.Command, wakecall *client.Client, args []string) (forecast.Forecast, error) {
			if within > 0 {
				options.To = v.Now().Add(within)
			}
			return wakecall.Timers.Forecast(c.Context(), args[0], options)
		})
	addDuration(c, &within, "within", "how far ahead, 24h by default")
	addDuration(c, &options.Step, "step", "how long each step is, 1m by default")
	c.Flags().BoolVar(&all, "all", false, "empty steps as well")
	return c
}

func (v statsVerbs) showForecast(f forecast.Forecast, all bool) {
	var rows [][]string
	for _, step := range f.Steps {
		if step.Due+step.DispatchItems == 0 && !all {
			continue
		}
		colour, late := plain, "-"
		if step.Lateness > 0 {
			late = step.Lateness.String()
		}
		if step.Overflows {
			colour = red
		}
		rows = append(rows, []string{v.coloured(colour, v.when(step.At)), fmt.Sprint(step.Due), fmt.Sprint(step.DispatchItems), late})
	}
	v.table([]string{v.coloured(plain, "FROM"), "DUE", "DISPATCHED", "LATE BY"}, rows)
}
