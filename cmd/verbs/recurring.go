package verbs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// recurringVerbs are the commands on recurring timers.
type recurringVerbs struct{ *shell }

func (v recurringVerbs) upcoming() *cobra.Command {
	count := recurrence.DefaultUpcoming
	c := reading(v.shell, &cobra.Command{Use: "upcoming", Short: "Show when a recurring timer rings next"}, v.showUpcoming,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.Upcoming, error) {
			return wakecall.Timers.Upcoming(c.Context(), key, count)
		})
	addCount(c, &count, "count", "how many times at most")
	return c
}

func (v recurringVerbs) occurrences() *cobra.Command {
	var limit int
	c := reading(v.shell, &cobra.Command{Use: "occurrences", Short: "Show how a recurring timer has rung"}, v.showOccurrences,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) ([]timer.Past, error) {
			return collect(wakecall.Timers.Occurrences(c.Context(), key), limit)
		})
	limitFlag(c, &limit)
	return c
}

func (v recurringVerbs) preview() *cobra.Command {
	var timezone, from string
	count := recurrence.DefaultUpcoming
	c := &cobra.Command{
		Use: "preview RULE", Short: "Show when a rule would ring; nothing is booked", Args: cobra.ExactArgs(1),
		Long:    "Show when a rule would ring; nothing is booked. RULE is a cron expression, or a rule as " + documentForms + ".",
		Example: "wakecall preview '30 9 * * MON-FRI' --timezone Europe/Berlin",
	}
	c.RunE = call(v.shell, v.showUpcoming, func(c *cobra.Command, wakecall *client.Client, args []string) (timer.Upcoming, error) {
		rule, err := ruleOf(v.shell, args[0], timezone)
		if err != nil {
			return timer.Upcoming{}, err
		}
		at, err := instantOf("from", from)
		if err != nil {
			return timer.Upcoming{}, err
		}
		return wakecall.Timers.Preview(c.Context(), client.Trial{Recurrence: *rule, From: at, Count: count})
	})
	c.Flags().StringVar(&timezone, "timezone", "", "the time zone of the rule, such as Europe/Berlin")
	c.Flags().StringVar(&from, "from", "", "the time of the booking; by default now")
	addCount(c, &count, "count", "how many times at most")
	return c
}

// whyEmpty returns the reason why a rule has no time.
func whyEmpty(upcoming timer.Upcoming) string {
	switch upcoming.EmptyBecause {
	case timer.EmptyPaused:
		return strings.TrimSuffix("The timer is paused: "+upcoming.Note, ": ") + "."
	case timer.EmptyFinished:
		return "The timer has ended."
	case timer.EmptyStopped:
		return "The receiver has ended the rule."
	default:
		return "The rule has no further time."
	}
}

func (v recurringVerbs) showUpcoming(upcoming timer.Upcoming) {
	if upcoming.EmptyBecause != "" {
		v.complain("%s\n", whyEmpty(upcoming))
		return
	}
	var rows [][]string
	for _, at := range upcoming.Times {
		rows = append(rows, []string{v.when(at)})
	}
	v.table([]string{"RINGS"}, rows)
}

func (v recurringVerbs) showOccurrences(past []timer.Past) {
	var rows [][]string
	for _, p := range past {
		rows = append(rows, []string{
			v.status(p.Status), fmt.Sprint(p.Occurrence), v.when(p.DueAt), fmt.Sprint(p.Attempts), fmt.Sprint(p.Skipped), failureOf(p.LastFailure),
		})
	}
	v.table([]string{v.coloured(plain, "STATUS"), "NUMBER", "DUE", "ATTEMPTS", "SKIPPED BEFORE", "LAST FAILURE"}, rows)
}

// ruleOf parses a rule: a document, or a cron expression.
func ruleOf(s *shell, text, timezone string) (*recurrence.Rule, error) {
	rule := &recurrence.Rule{}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "@") || text == "-" {
		if err := s.fill("--rule", text, rule); err != nil {
			return nil, err
		}
	} else {
		rule.Cron = &text
	}
	if timezone != "" {
		rule.Timezone = timezone
	}
	return rule, nil
}
