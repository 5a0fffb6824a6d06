package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd/program"
)

// Add adds the verbs to a tree, and the flags before a verb to its root.
func Add(root *cobra.Command, streams program.Streams) {
	s := &shell{Streams: streams}
	s.flags(root)
	for _, family := range families(s) {
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

func families(s *shell) []family {
	timers := timerVerbs{s}
	bookings, receivers := bookingVerbs{timers}, receiverVerbs{timers}
	recurring, history := recurringVerbs{s}, historyVerbs{s}
	stats, access := statsVerbs{s}, accessVerbs{s}
	return []family{
		{"Timers", []*cobra.Command{
			bookings.add(), bookings.put(), bookings.batch(), bookings.move(), bookings.edit(),
			timers.get(), timers.payload(), timers.list(), timers.pause(), timers.resume(), timers.cancel(), timers.fire(),
			timers.redeliver(), timers.attempts(), history.history(), history.why(),
		}},
		{"Recurring timers", []*cobra.Command{recurring.preview(), recurring.upcoming(), recurring.occurrences()}},
		{"Receivers", []*cobra.Command{receivers.listen(), receivers.ack(), receivers.nack()}},
		{"Many at once", []*cobra.Command{
			bulkVerbs{s}.group(), dispatchVerbs{s}.group(), stats.stats(), stats.slo(), stats.outcomes(), stats.forecast(),
		}},
		{"Operation", []*cobra.Command{
			policyVerbs{s}.group(), emergencyVerbs{s}.group(), access.whoami(), access.keys(), access.audit(),
			serverVerbs{s}.check(), serverVerbs{s}.processes(), serverVerbs{s}.group(),
		}},
	}
}
