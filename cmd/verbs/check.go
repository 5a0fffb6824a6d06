package verbs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/health"
)

// check returns the command that shows what is wrong with an installation. It fails if a check
// does, for scripts.
func (v serverVerbs) check() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Show what the server checks of its installation, and what is wrong", Args: cobra.NoArgs,
		Example: "wakecall check",
		RunE: func(c *cobra.Command, _ []string) error {
			wakecall, err := v.client()
			if err != nil {
				return err
			}
			state, err := wakecall.Server.Check(c.Context())
			if err != nil {
				return err
			}
			if v.json {
				err = v.printJSON(state)
			} else {
				v.showChecks(state.Checks)
			}
			if failing := countFailing(state.Checks); failing > 0 && err == nil {
				err = program.Partial(fmt.Errorf("%d of %d checks fail", failing, len(state.Checks)))
			}
			return err
		},
	}
}

func (v serverVerbs) showChecks(checks []health.Check) {
	rows := make([][]string, 0, len(checks))
	for _, check := range checks {
		colour := map[health.Status]string{health.OK: green, health.Failing: red}[check.Status]
		detail := "-"
		if check.Detail != "" {
			detail = v.safe(check.Detail)
		}
		rows = append(rows, []string{v.coloured(colour, v.safe(string(check.Status))), v.safe(check.Name), v.when(check.At), detail})
	}
	v.table([]string{v.coloured(plain, "STATUS"), "CHECK", "AT", "DETAIL"}, rows)
}

func countFailing(checks []health.Check) (failing int) {
	for _, check := range checks {
		if check.Status == health.Failing {
			failing++
		}
	}
	return failing
}
