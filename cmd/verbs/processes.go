package verbs

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/health"
)

func (v serverVerbs) processes() *cobra.Command {
	return &cobra.Command{
		Use: "processes", Short: "Show the gateways and workers, those not seen for longest first",
		Args: cobra.NoArgs, Example: "wakecall processes",
		RunE: call(v.shell, v.showProcesses, func(c *cobra.Command, wakecall *client.Client, _ []string) (health.Processes, error) {
			return wakecall.Server.Processes(c.Context())
		}),
	}
}

func (v serverVerbs) showProcesses(all health.Processes) {
	rows := make([][]string, 0, len(all.Processes))
	for _, p := range all.Processes {
		colour := map[health.Life]string{health.Alive: green, health.Silent: red}[p.State]
		rows = append(rows, []string{
			v.coloured(colour, string(p.State)), string(p.Role), p.ID, or(p.Host), or(p.Version),
			countOr(p.Preloaded), countOr(p.InFlight), v.when(p.LastSeen),
		})
	}
	v.table([]string{v.coloured(plain, "STATE"), "ROLE", "ID", "HOST", "VERSION", "PRELOADED", "IN FLIGHT", "LAST SEEN"}, rows)
	if all.Note != "" {
		_, _ = fmt.Fprintln(v.Err, v.safe(all.Note))
	}
}

// countOr is a count; - for one that is not told.
func countOr(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}
