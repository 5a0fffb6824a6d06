package verbs

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/apply"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/terminal"
)

// policyVerbs are the commands on policies.
type policyVerbs struct{ *shell }

func (v policyVerbs) group() *cobra.Command {
	return program.Group("policies", "Show and change policies",
		v.list(), v.get(), v.put(), v.patch(), v.delete(), v.versions(), v.lift(), v.test(),
		v.apply())
}

func (v policyVerbs) list() *cobra.Command {
	var filter client.PolicyFilter
	c := &cobra.Command{Use: "list", Short: "List the policies", Args: cobra.NoArgs, Example: "wakecall policies list"}
	c.RunE = call(v.shell, v.showAll, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]policy.Policy, error) {
		return wakecall.Policies.List(c.Context(), filter)
	})
	c.Flags().BoolVar(&filter.Paused, "paused", false, "only policies that are paused")
	c.Flags().BoolVar(&filter.BackPressure, "back-pressure", false, "only policies with back-pressure in force")
	return c
}

func (v policyVerbs) get() *cobra.Command {
	return &cobra.Command{
		Use: "get TYPE", Short: "Show a policy, as JSON", Args: cobra.ExactArgs(1), Example: "wakecall policies get order-close",
		RunE: call(v.shell, v.showDocument, func(c *cobra.Command, wakecall *client.Client, args []string) (any, error) {
			return wakecall.Policies.Get(c.Context(), args[0])
		}),
	}
}

// policyFlags holds the flags for the change of a policy.
type policyFlags struct {
	dryRun bool
	ifNone bool
	ifAt   int
}

func (f *policyFlags) flags(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the differences, and change nothing")
	c.Flags().IntVar(&f.ifAt, "if-version", 0, "only if the policy has this version; 0 for any")
	c.MarkFlagsMutuallyExclusive("dry-run", "if-version")
}

func (f *policyFlags) match() client.Match {
	if f.ifNone {
		return client.NoPolicy
	}
	return client.Match(f.ifAt)
}

const documentArguments = "TYPE DOCUMENT"

func (v policyVerbs) put() *cobra.Command {
	f := &policyFlags{}
	c := v.changing(&cobra.Command{
		Use: "put " + documentArguments, Short: "Store a policy", Args: cobra.ExactArgs(2),
		Long:    "Store a policy. DOCUMENT is " + documentForms + "; a field that it leaves out returns to its default.",
		Example: `wakecall policies put order-close '{"callback": {"url": "https://orders.example.com/close"}}'`,
	}, f, client.Policies.Plan, client.Policies.Put)
	c.Flags().BoolVar(&f.ifNone, "if-none", false, "only if there is no policy")
	c.MarkFlagsMutuallyExclusive("dry-run", "if-none")
	c.MarkFlagsMutuallyExclusive("if-version", "if-none")
	return c
}

func (v policyVerbs) patch() *cobra.Command {
	return v.changing(&cobra.Command{
		Use: "patch " + documentArguments, Short: "Edit a policy in part", Args: cobra.ExactArgs(2),
		Long:    "Edit a policy in part. DOCUMENT is a merge patch, as " + documentForms + "; other fields stay unchanged.",
		Example: `wakecall policies patch order-close '{"paused": true}'`,
	}, &policyFlags{}, client.Policies.PlanPatch, client.Policies.Patch)
}

type (
	planner = func(p client.Policies, ctx context.Context, businessType string, document any) (client.Planned, error)
	storer  = func(p client.Policies, ctx context.Context, businessType string, document any, match client.Match) (policy.Policy, error)
)

// changing has a command store a document, or only plan that for --dry-run.
func (v policyVerbs) changing(c *cobra.Command, f *policyFlags, plan planner, store storer) *cobra.Command {
	c.RunE = call(v.shell, v.showDocument, func(c *cobra.Command, wakecall *client.Client, args []string) (any, error) {
		document, err := v.document("DOCUMENT", args[1])
		switch {
		case err != nil:
			return nil, err
		case f.dryRun:
			return plan(wakecall.Policies, c.Context(), args[0], document)
		}
		return store(wakecall.Policies, c.Context(), args[0], document, f.match())
	})
	f.flags(c)
	return c
}

func (v policyVerbs) delete() *cobra.Command {
	var remaining string
	c := v.silent(&cobra.Command{Use: "delete TYPE", Short: "Delete a policy", Args: cobra.ExactArgs(1),
		Example: "wakecall policies delete order-close --timers cancel"},
		"The policy is deleted.", func(c *cobra.Command, wakecall *client.Client, args []string) error {
			return wakecall.Policies.Delete(c.Context(), args[0], remaining)
		})
	c.Flags().StringVar(&remaining, "timers", "", "what happens to its open timers: cancel or keep; left out, there must be none")
	completeWith(c, "timers", []string{"cancel", "keep"})
	return c
}

func (v policyVerbs) lift() *cobra.Command {
	return v.silent(&cobra.Command{
		Use: "lift TYPE", Short: "End the back-pressure of a type's receivers", Args: cobra.ExactArgs(1),
		Example: "wakecall policies lift order-close",
	}, "No back-pressure is in force any more.", func(c *cobra.Command, wakecall *client.Client, args []string) error {
		return wakecall.Policies.LiftBackPressure(c.Context(), args[0])
	})
}

func (v policyVerbs) test() *cobra.Command {
	link := ""
	c := &cobra.Command{
		Use: "test TYPE", Short: "Send one test event to the receiver", Args: cobra.ExactArgs(1),
		Example: "wakecall policies test order-close --link fallback",
		RunE: call(v.shell, v.showTest, func(c *cobra.Command, wakecall *client.Client, args []string) (delivery.TestResult, error) {
			return wakecall.Policies.Test(c.Context(), args[0], delivery.Link(link))
		}),
	}
	c.Flags().StringVar(&link, "link", "", "callback or fallback; by default the callback")
	completeWith(c, "link", []delivery.Link{delivery.LinkCallback, delivery.LinkFallback})
	return c
}

func (v policyVerbs) showTest(result delivery.TestResult) {
	said := "not delivered"
	if result.Delivered {
		said = "delivered"
	}
	rows := [][]string{{"result", said}, {"link", string(result.Link)}, {"took", fmt.Sprint(result.TookMS, " ms")}}
	if result.Status != 0 {
		rows = append(rows, []string{"status", fmt.Sprint(result.Status)})
	}
	for _, row := range [][]string{{"class", string(result.Class)}, {"detail", result.Detail}, {"answer", result.Answer}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if result.TLS != nil {
		rows = append(rows, []string{"tls", result.TLS.Version + ", " + result.TLS.Subject + ", until " + result.TLS.Until.String()})
	}
	v.table([]string{"", ""}, rows)
}

func (v policyVerbs) versions() *cobra.Command {
	return &cobra.Command{
		Use: "versions TYPE", Short: "Show who changed a policy, and when", Args: cobra.ExactArgs(1),
		Example: "wakecall policies versions order-close",
		RunE: call(v.shell, v.showVersions, func(c *cobra.Command, wakecall *client.Client, args []string) ([]client.PolicyVersion, error) {
			return wakecall.Policies.Versions(c.Context(), args[0])
		}),
	}
}

func (v policyVerbs) showVersions(versions []client.PolicyVersion) {
	var rows [][]string
	for _, version := range versions {
		what := "changed"
		if version.Deleted {
			what = "deleted"
		}
		rows = append(rows, []string{fmt.Sprint(version.Version), what, v.when(version.ChangedAt), version.ChangedBy})
	}
	v.table([]string{"VERSION", "WHAT", "WHEN", "BY"}, rows)
}

func (v policyVerbs) apply() *cobra.Command {
	var options apply.Options
	c := &cobra.Command{Use: "apply FILE", Short: "Apply a file of policies", Args: cobra.ExactArgs(1),
		Example: "wakecall policies apply policies.yaml --dry-run"}
	c.RunE = func(c *cobra.Command, args []string) error {
		wakecall, err := v.client()
		if err != nil {
			return err
		}
		options.File, options.JSON = args[0], v.json
		return apply.Run(c.Context(), wakecall, options, terminal.Writer(v.Out))
	}
	c.Flags().BoolVar(&options.DryRun, "dry-run", false, "show the differences, and change nothing")
	return c
}

func (v policyVerbs) showAll(policies []policy.Policy) {
	var rows [][]string
	for _, p := range policies {
		paused := "-"
		if p.Paused {
			paused = strings.TrimSuffix("paused by "+p.PausedBy, " by ")
		}
		rows = append(rows, []string{p.BusinessType, fmt.Sprint(p.Version), p.Callback.Target(), paused})
	}
	v.table([]string{"TYPE", "VERSION", "CALLBACK", "PAUSED"}, rows)
}
