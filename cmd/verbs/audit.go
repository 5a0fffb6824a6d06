package verbs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
)

func (v accessVerbs) audit() *cobra.Command {
	var options client.AuditOptions
	var from, to string
	c := &cobra.Command{Use: "audit", Short: "Show who did what, as far as the gateway that answers knows", Args: cobra.NoArgs,
		Example: "wakecall audit --who anna --outcome refused"}
	c.RunE = call(v.shell, v.showAudit, func(c *cobra.Command, wakecall *client.Client, _ []string) (page trail.Page, err error) {
		if options.From, err = instantOf("from", from); err != nil {
			return page, err
		}
		if options.To, err = instantOf("to", to); err != nil {
			return page, err
		}
		return wakecall.Access.Audit(c.Context(), options)
	})
	flags := c.Flags()
	flags.StringVar(&options.Who, "who", "", "only calls by this name or id")
	flags.StringVar(&options.BusinessType, "type", "", "only calls about this business type")
	flags.StringVar(&options.Operation, "operation", "", "only calls with this method and route, such as 'DELETE /v1/timers/:type/:id'")
	flags.StringVar((*string)(&options.Outcome), "outcome", "", "only calls with this outcome")
	flags.StringVar(&from, "from", "", "only calls at this time or later")
	flags.StringVar(&to, "to", "", "only calls before this time")
	options.PageSize = 100
	addCount(c, &options.PageSize, "limit", "how many at most, up to 1000")
	completeWith(c, "outcome", trail.Outcomes())
	return c
}

func (v accessVerbs) showAudit(page trail.Page) {
	var rows [][]string
	for _, record := range page.Records {
		rows = append(rows, []string{
			v.when(record.At), authorOf(timer.HistoryEntry{Who: record.Who}), record.Operation(), targetOf(record), v.outcome(record),
		})
	}
	v.table([]string{"WHEN", "WHO", "WHAT", "ON", v.coloured(plain, "OUTCOME")}, rows)
	_, _ = fmt.Fprintf(v.Err, "%s knows all since %s, and calls of programs about single timers since %s.\n",
		page.Gateway, v.when(page.Since), v.when(page.TimersSince))
}

func targetOf(record trail.Record) string {
	t := record.Target
	parts := t.Types()
	if t.Everything {
		parts = []string{"everything"}
	}
	for _, id := range []string{t.BusinessID, t.ID} {
		if id != "" {
			parts = append(parts, id)
		}
	}
	return or(strings.Join(parts, " "))
}

func (v accessVerbs) outcome(record trail.Record) string {
	colour := plain
	switch record.Outcome {
	case trail.Refused, trail.Unknown:
		colour = red
	case trail.Done, trail.Accepted:
		colour = green
	case trail.Unchanged:
	}
	return v.coloured(colour, strings.TrimSpace(string(record.Outcome)+" "+string(record.Problem)))
}
