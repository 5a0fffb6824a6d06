package verbs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/auth"
)

// accessVerbs are the commands on callers and their keys.
type accessVerbs struct{ *shell }

func (v accessVerbs) whoami() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who you are to Wakecall, and what you may do", Args: cobra.NoArgs, Example: "wakecall whoami",
		RunE: call(v.shell, v.showPrincipal, func(c *cobra.Command, wakecall *client.Client, _ []string) (client.Principal, error) {
			return wakecall.Access.Whoami(c.Context())
		}),
	}
}

func (v accessVerbs) showPrincipal(who client.Principal) {
	row := []string{who.Name, or(who.ID), who.By}
	var rows [][]string
	for _, grant := range who.Grants {
		rows = append(rows, append(row, grantColumns(grant)...))
		row = []string{"", "", ""}
	}
	if len(rows) == 0 {
		rows = [][]string{append(row, "none", "-", "-")}
	}
	v.table([]string{"NAME", "ID", "BY", "ROLE", "PAYLOADS", "TYPES"}, rows)
}

func or(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func grantColumns(grant client.Grant) []string {
	return []string{grant.Role, map[bool]string{true: "shown", false: "left out"}[grant.Payloads], strings.Join(grant.BusinessTypes, " ")}
}

func (v accessVerbs) keys() *cobra.Command {
	return program.Group("keys", "Show and make API keys", v.listKeys(), v.newKey())
}

func (v accessVerbs) listKeys() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the configured API keys, without their secrets", Args: cobra.NoArgs, Example: "wakecall keys list",
		RunE: call(v.shell, v.showKeys, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]client.Key, error) {
			return wakecall.Access.Keys(c.Context())
		}),
	}
}

func (v accessVerbs) showKeys(keys []client.Key) {
	var rows [][]string
	for _, key := range keys {
		rows = append(rows, append([]string{key.Name}, grantColumns(key.Grant)...))
	}
	v.table([]string{"NAME", "ROLE", "PAYLOADS", "TYPES"}, rows)
}

// madeKey is a new key with its entry.
type madeKey struct {
	Key   string `json:"key"`
	Entry string `json:"entry"`
}

func (v accessVerbs) newKey() *cobra.Command {
	var role string
	var types []string
	var payloads bool
	c := &cobra.Command{
		Use: "new NAME", Short: "Make an API key: print it once, with the entry for WAKECALL_API_KEYS", Args: cobra.ExactArgs(1),
		Long: "Make an API key: print it once, with the entry for WAKECALL_API_KEYS.\n\n" +
			"The command calls no server, and Wakecall does not store the key. The key works once the entry is configured.",
		Example: "wakecall keys new shop --role operator --types order-*,invoice",
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		var shown *bool
		if c.Flags().Changed("payloads") {
			shown = &payloads
		}
		grant, err := auth.Granting(role, types, shown)
		if err != nil {
			return program.Wrong(err)
		}
		secret, key, err := auth.NewKey(args[0], grant)
		if err != nil {
			return program.Wrong(err)
		}
		return v.showMade(madeKey{secret, key.Entry()})
	}
	c.Flags().StringVar(&role, "role", "", strings.Join(auth.RoleNames(), ", "))
	c.Flags().StringSliceVar(&types, "types", nil, "business types, or prefixes such as order-*; all by default")
	c.Flags().BoolVar(&payloads, "payloads", false, "whether the key shows payloads; by default every role but viewer does")
	_ = c.MarkFlagRequired("role") // the flag exists
	return c
}

func (v accessVerbs) showMade(made madeKey) error {
	if v.json {
		return v.printJSON(made)
	}
	if _, err := fmt.Fprintf(v.Out, "key:   %s\nentry: %s\n", made.Key, made.Entry); err != nil {
		return err
	}
	_, err := fmt.Fprintln(v.Err, "The key is not shown again. Add the entry to WAKECALL_API_KEYS of every gateway.")
	return err
}
