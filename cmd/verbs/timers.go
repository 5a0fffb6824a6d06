package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// exampleTimer is the timer of the examples.
const exampleTimer = "order-close/order-4711"

// change changes a timer. pending reports whether the change is durable but not applied yet.
type change func(c *cobra.Command, wakecall *client.Client, key wire.Key, wait client.Wait) (view timer.View, pending bool, err error)

// changing returns a command that changes a timer.
func (s *shell) changing(name, short string, do change) *cobra.Command {
	var wait string
	c := &cobra.Command{
		Use: name + " " + timerArgument, Short: short, Args: cobra.ExactArgs(1), Example: "wakecall " + name + " " + exampleTimer,
		RunE: call(s, s.showTimer, func(c *cobra.Command, wakecall *client.Client, args []string) (view timer.View, err error) {
			key, err := keyOf(args[0])
			if err != nil {
				return view, err
			}
			patience, err := waitOf(wait)
			if err != nil {
				return view, err
			}
			view, pending, err := do(c, wakecall, key, patience)
			s.notePending(pending)
			return view, err
		}),
	}
	waitFlag(c, &wait)
	return c
}

// notePending notes that a change takes effect later.
func (s *shell) notePending(pending bool) {
	if pending {
		s.complain("It is durable, and no worker has applied it yet.\n")
	}
}

// reading returns a command that reads something of a timer.
func reading[T any](s *shell, c *cobra.Command, show func(T),
	read func(*cobra.Command, *client.Client, wire.Key) (T, error)) *cobra.Command {
	c.Use += " " + timerArgument
	c.Args, c.Example = cobra.ExactArgs(1), "wakecall "+c.Name()+" "+exampleTimer
	c.RunE = call(s, show, func(c *cobra.Command, wakecall *client.Client, args []string) (answer T, err error) {
		key, err := keyOf(args[0])
		if err != nil {
			return answer, err
		}
		return read(c, wakecall, key)
	})
	return c
}

func (s *shell) get() *cobra.Command {
	return reading(s, &cobra.Command{Use: "get", Short: "Show a timer"}, s.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			return wakecall.Timers.Get(c.Context(), key)
		})
}

func (s *shell) payload() *cobra.Command {
	return withoutJSON(reading(s, &cobra.Command{Use: "payload", Short: "Write a timer's payload, byte for byte"}, s.showPayload,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.Payload, error) {
			return wakecall.Timers.Payload(c.Context(), key)
		}))
}

func (s *shell) showPayload(p timer.Payload) { _, _ = s.Out.Write(p.Data) }

func (s *shell) cancel() *cobra.Command {
	return s.changing("cancel", "Cancel a timer", func(c *cobra.Command, wakecall *client.Client, key wire.Key,
		wait client.Wait) (timer.View, bool, error) {
		return wakecall.Timers.Cancel(c.Context(), key, wait)
	})
}

func (s *shell) fire() *cobra.Command {
	return s.changing("fire", "Ring a timer now", func(c *cobra.Command, wakecall *client.Client, key wire.Key,
		wait client.Wait) (timer.View, bool, error) {
		return wakecall.Timers.Fire(c.Context(), key, wait)
	})
}

func (s *shell) redeliver() *cobra.Command {
	return reading(s, &cobra.Command{Use: "redeliver", Short: "Try a failed timer again"}, s.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			return wakecall.Timers.Redeliver(c.Context(), key)
		})
}

func (s *shell) attempts() *cobra.Command {
	var limit int
	c := reading(s, &cobra.Command{Use: "attempts", Short: "Show the record of a timer's attempts"}, s.showAttempts,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) ([]delivery.ShownAttempt, error) {
			return collect(wakecall.Timers.Attempts(c.Context(), key), limit)
		})
	limitFlag(c, &limit)
	return c
}

// listFlags holds the flags of a list of timers.
type listFlags struct {
	client.Filter
	status                             string
	dueFrom, dueTo, endedFrom, endedTo string
	within                             time.Duration
	limit                              int
}

func (s *shell) list() *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{Use: "list", Short: "List timers", Args: cobra.NoArgs,
		Example: "wakecall list --type order-close --status failed --limit 20"}
	c.RunE = call(s, s.showTimers, func(c *cobra.Command, wakecall *client.Client, _ []string) (views []timer.View, err error) {
		if err := f.read(s.Now()); err != nil {
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
