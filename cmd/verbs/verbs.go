package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd/program"
)

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
