package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
)

// shell is the state that the commands share.
type shell struct {
	program.Streams
	connection
	json bool
}

// Add adds the verbs to a tree, and the flags before a verb to its root.
func Add(root *cobra.Command, streams program.Streams) {
	s := &shell{Streams: streams}
	s.flags(root)
	for _, family := range s.families() {
		root.AddGroup(&cobra.Group{ID: family.title, Title: family.title + ":"})
		for _, verb := range family.verbs {
			verb.GroupID = family.title
			s.flagsBelow(verb)
			root.AddCommand(verb)
		}
	}
}

// family is a group of commands in the help.
type family struct {
	title string
	verbs []*cobra.Command
}

func (s *shell) families() []family {
	return []family{
		{"Timers", []*cobra.Command{
			s.add(), s.put(), s.batch(), s.get(), s.payload(), s.list(), s.move(), s.edit(), s.pause(), s.resume(), s.cancel(), s.fire(),
			s.redeliver(), s.attempts(), s.history(), s.why(),
		}},
		{"Recurring timers", []*cobra.Command{s.preview(), s.upcoming(), s.occurrences()}},
		{"Receivers", []*cobra.Command{s.listen(), s.ack(), s.nack()}},
		{"Many at once", []*cobra.Command{s.bulk(), s.dispatch(), s.stats(), s.slo(), s.forecast()}},
		{"Operation", []*cobra.Command{s.policies(), s.emergency(), s.whoami(), s.keys(), s.serverCommands()}},
	}
}

// flags adds the flags of every verb.
func (s *shell) flags(c *cobra.Command) {
	s.connection.flags(c)
	if c.Annotations[noJSON] == "" {
		c.Flags().BoolVar(&s.json, "json", false, "print the API's answer as JSON")
	}
}

// noJSON marks a command that prints no answer of the API.
const noJSON = "no-json"

func withoutJSON(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{noJSON: "true"}
	return c
}

// flagsBelow adds the flags to a command and all below it, so that they may follow any word.
func (s *shell) flagsBelow(c *cobra.Command) {
	s.flags(c)
	for _, below := range c.Commands() {
		s.flagsBelow(below)
	}
}

// action runs a command with its arguments.
type action[T any] func(c *cobra.Command, wakecall *client.Client, args []string) (T, error)

// call returns the run function of a command with one call, and prints the result.
func call[T any](s *shell, show func(T), do action[T]) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		wakecall, err := s.client()
		if err != nil {
			return err
		}
		answer, err := do(c, wakecall, args)
		switch {
		case err != nil:
			return err
		case s.json:
			return s.printJSON(answer)
		}
		show(answer)
		return nil
	}
}
