package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
)

// listFlags holds the flags of a list of timers.
type listFlags struct {
	client.Filter
	status                             string
	dueFrom, dueTo, endedFrom, endedTo string
	within                             time.Duration
	limit                              int
}

func (v timerVerbs) list() *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{Use: "list", Short: "List timers", Args: cobra.NoArgs,
		Example: "wakecall list --type order-close --status failed --limit 20"}
	c.RunE = call(v.shell, v.showTimers, func(c *cobra.Command, wakecall *client.Client, _ []string) (views []timer.View, err error) {
		if err := f.read(v.Now()); err != nil {
			return nil, err
		}
		return collect(wakecall.Timers.List(c.Context(), f.Filter), f.limit)
	})
	f.flags(c)
	return c
}

func (f *listFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.BusinessType, "type", "", "only timers of this business type")
	flags.StringVar(&f.BusinessID, "id", "", "only timers with this business id")
	flags.StringVar(&f.status, "status", "", "only timers in this status")
	flags.StringToStringVar((*map[string]string)(&f.Labels), "label", nil, "only timers with this label; may be repeated")
	flags.BoolVar(&f.Recurring, "recurring", false, "only recurring timers")
	flags.StringVar(&f.RunID, "run", "", "the timer that has, or had, this run of Temporal's")
	flags.StringVar(&f.WebhookID, "webhook-id", "", "the timer of this delivery, if it waits for its acknowledgement")
	flags.StringVar((*string)(&f.Sort), "sort", "", "due: the next one first; -due: the last one first")
	addDuration(c, &f.within, "due-within", "only timers that are due within this time, such as 1h")
	flags.StringVar(&f.dueFrom, "due-from", "", "only timers that are due at this time or later")
	flags.StringVar(&f.dueTo, "due-to", "", "only timers that are due at this time or earlier")
	flags.StringVar(&f.endedFrom, "ended-from", "", "only timers that ended at this time or later")
	flags.StringVar(&f.endedTo, "ended-to", "", "only timers that ended at this time or earlier")
	limitFlag(c, &f.limit)
	c.MarkFlagsMutuallyExclusive("due-to", "due-within")
	completeWith(c, "status", timer.Statuses())
}

// read parses the flags that are not plain text.
func (f *listFlags) read(now time.Time) error {
	f.Status = timer.Status(f.status)
	for _, one := range []struct {
		flag, text string
		into       *time.Time
	}{
		{"due-from", f.dueFrom, &f.DueFrom}, {"due-to", f.dueTo, &f.DueTo}, {"ended-from", f.endedFrom, &f.EndedFrom},
		{"ended-to", f.endedTo, &f.EndedTo},
	} {
		at, err := instantOf(one.flag, one.text)
		if err != nil {
			return err
		}
		if at != 0 {
			*one.into = at.Time()
		}
	}
	if f.within > 0 {
		f.DueTo = now.Add(f.within)
	}
	return nil
}
