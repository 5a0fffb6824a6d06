package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func (v historyVerbs) why() *cobra.Command {
	return reading(v.shell, &cobra.Command{Use: "why", Short: "Explain the state of a timer: what it waits for, and until when"}, v.showFacts,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) ([]timer.Fact, error) {
			return wakecall.Timers.Why(c.Context(), key)
		})
}

func (v historyVerbs) showFacts(facts []timer.Fact) {
	var rows [][]string
	for _, fact := range facts {
		rows = append(rows, []string{string(fact.Fact), string(fact.Source), v.when(fact.Since), v.when(fact.Until), holderOf(fact), fact.Text})
	}
	v.table([]string{"WHY", "KNOWN FROM", "SINCE", "UNTIL", "BY", "IN WORDS"}, rows)
}

// holderOf returns the holder of a wait, with the reason.
func holderOf(fact timer.Fact) string {
	switch {
	case fact.By == "" && fact.Note == "":
		return "-"
	case fact.Note == "":
		return fact.By
	default:
		return fact.By + ": " + fact.Note
	}
}
