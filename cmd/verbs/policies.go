package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/apply"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/terminal"
	"github.com/wakecall/wakecall/timer"
)

func (s *shell) policies() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the policies", Args: cobra.NoArgs, Example: "wakecall policies list",
		RunE: call(s, s.showPolicies, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]timer.Policy, error) {
			return wakecall.Policies.List(c.Context())
		}),
	}
	get := &cobra.Command{
		Use: "get TYPE", Short: "Show a policy, as JSON", Args: cobra.ExactArgs(1), Example: "wakecall policies get order-close",
		RunE: call(s, func(p timer.Policy) { _ = s.printJSON(p) }, func(c *cobra.Command, wakecall *client.Client, args []string) (timer.Policy, error) {
			return wakecall.Policies.Get(c.Context(), args[0])
		}),
	}
	return program.Group("policies", "Show policies, and change them", list, get, s.applyPolicies())
}

func (s *shell) applyPolicies() *cobra.Command {
	var options apply.Options
	c := &cobra.Command{Use: "apply FILE", Short: "Bring the policies in line with a file", Args: cobra.ExactArgs(1), Example: "wakecall policies apply policies.yaml --dry-run"}
	c.RunE = func(c *cobra.Command, args []string) error {
		wakecall, err := s.client()
		if err != nil {
			return err
		}
		options.File, options.JSON = args[0], s.json
		return apply.Run(c.Context(), wakecall, options, terminal.Writer(s.Out))
	}
	c.Flags().BoolVar(&options.DryRun, "dry-run", false, "show the differences, and change nothing")
	return c
}
