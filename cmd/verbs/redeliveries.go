package verbs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/job"
)

func (s *shell) redeliveries() *cobra.Command {
	return program.Group("redeliveries", "Try many failed timers again; bulk redeliver takes more conditions",
		s.startRedelivery(), s.listRedeliveries(),
		s.onRedelivery("get", "Show a redelivery", client.Redeliveries.Get),
		s.onRedelivery("stop", "Stop a redelivery", client.Redeliveries.Stop))
}

func (s *shell) startRedelivery() *cobra.Command {
	var order client.RedeliveryOrder
	var from, to string
	var all bool
	c := &cobra.Command{Use: "start", Short: "Try failed timers again", Args: cobra.NoArgs, Example: "wakecall redeliveries start --type order-close --rate 20"}
	c.RunE = call(s, s.showRedelivery, func(c *cobra.Command, wakecall *client.Client, _ []string) (j client.Redelivery, err error) {
		if order.Filter.EndedFrom, err = instantOf("ended-from", from); err != nil {
			return j, err
		}
		if order.Filter.EndedTo, err = instantOf("ended-to", to); err != nil {
			return j, err
		}
		if all != (order.Filter == job.FailedFilter{}) {
			return j, program.Wrong(errors.New("say which timers, such as --type order-close, or --all"))
		}
		return wakecall.Redeliveries.Start(c.Context(), order)
	})
	c.Flags().StringVar(&order.Filter.BusinessType, "type", "", "only timers of this business type")
	c.Flags().StringVar(&from, "ended-from", "", "only timers that failed then or later")
	c.Flags().StringVar(&to, "ended-to", "", "only timers that failed then or earlier")
	c.Flags().BoolVar(&all, "all", false, "all failed timers, without any other condition")
	c.Flags().Float64Var(&order.PerSecond, "rate", 0, "how many timers a second at most")
	return c
}

func (s *shell) listRedeliveries() *cobra.Command {
	var status string
	var limit int
	c := &cobra.Command{Use: "list", Short: "List redeliveries", Args: cobra.NoArgs, Example: "wakecall redeliveries list --status running"}
	c.RunE = call(s, s.showRedeliveries, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]client.Redelivery, error) {
		return collect(wakecall.Redeliveries.List(c.Context(), job.Status(status)), limit)
	})
	c.Flags().StringVar(&status, "status", "", "only redeliveries in this status")
	limitFlag(c, &limit)
	completeWith(c, "status", job.Statuses())
	return c
}

// redeliveryCall is a call for one redelivery.
type redeliveryCall func(client.Redeliveries, context.Context, string) (client.Redelivery, error)

func (s *shell) onRedelivery(name, short string, do redeliveryCall) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Args: cobra.ExactArgs(1), Example: "wakecall redeliveries " + name + " 0199f1c2-7a4e",
		RunE: call(s, s.showRedelivery, func(c *cobra.Command, wakecall *client.Client, args []string) (client.Redelivery, error) {
			return do(wakecall.Redeliveries, c.Context(), args[0])
		}),
	}
}

func (s *shell) showRedelivery(job client.Redelivery) { s.showRedeliveries([]client.Redelivery{job}) }

func (s *shell) showRedeliveries(jobs []client.Redelivery) {
	var rows [][]string
	for _, job := range jobs {
		found := "-"
		if job.Found != nil {
			found = fmt.Sprint(*job.Found)
		}
		rows = append(rows, []string{
			s.jobStatus(job.Status) + stopping(job.CancelRequested), job.ID, found, fmt.Sprint(job.Done), fmt.Sprint(job.Skipped), fmt.Sprint(job.Failed), s.when(job.StartedAt),
		})
	}
	s.table([]string{s.coloured(plain, "STATUS"), "REDELIVERY", "FOUND", "REDELIVERED", "SKIPPED", "FAILED", "STARTED"}, rows)
}
