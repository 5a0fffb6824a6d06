package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/cmd/verbs"
)

const nodeGroup = "Node"

// Complete adds the commands of every binary to a tree: the version and the verbs.
func Complete(root *cobra.Command, version string, streams program.Streams) {
	root.Version = version
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddGroup(&cobra.Group{ID: nodeGroup, Title: nodeGroup + ":"})
	AddToNode(root, &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), version)
			return err
		},
	})
	verbs.Add(root, streams)
}

// AddToNode adds commands in the help's group of a node.
func AddToNode(root *cobra.Command, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = nodeGroup
	}
	root.AddCommand(commands...)
}
