package verbs

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/timer"
)

const timerArgument = "TYPE/ID"

// keyOf reads a timer as a command line names it.
func keyOf(text string) (timer.Key, error) {
	key, ok := timer.ParseKey(text)
	if !ok {
		return key, program.Wrong(errors.New(text + " is no timer: write it as " + timerArgument))
	}
	return key, nil
}

// onTimer is a command on one timer.
func (s *shell) onTimer(name, short string, do func(*cobra.Command, *client.Client, timer.Key) (timer.View, error)) *cobra.Command {
	return &cobra.Command{
		Use: name + " " + timerArgument, Short: short, Args: cobra.ExactArgs(1),
		Example: "wakecall " + name + " order-close/order-4711",
		RunE: call(s, s.showTimer, func(c *cobra.Command, wakecall *client.Client, args []string) (timer.View, error) {
			key, err := keyOf(args[0])
			if err != nil {
				return timer.View{}, err
			}
			return do(c, wakecall, key)
		}),
	}
}

func (s *shell) get() *cobra.Command {
	return s.onTimer("get", "Show a timer", func(c *cobra.Command, wakecall *client.Client, key timer.Key) (timer.View, error) {
		return wakecall.Timers.Get(c.Context(), key)
	})
}

func (s *shell) cancel() *cobra.Command {
	return s.onTimer("cancel", "Cancel a timer", func(c *cobra.Command, wakecall *client.Client, key timer.Key) (timer.View, error) {
		view, _, err := wakecall.Timers.Cancel(c.Context(), key, nil)
		return view, err
	})
}

func (s *shell) fire() *cobra.Command {
	return s.onTimer("fire", "Ring a timer now", func(c *cobra.Command, wakecall *client.Client, key timer.Key) (timer.View, error) {
		view, _, err := wakecall.Timers.Fire(c.Context(), key, nil)
		return view, err
	})
}

func (s *shell) redeliver() *cobra.Command {
	return s.onTimer("redeliver", "Try a failed timer again", func(c *cobra.Command, wakecall *client.Client, key timer.Key) (timer.View, error) {
		return wakecall.Timers.Redeliver(c.Context(), key)
	})
}

// due is what a command line says of when a timer rings.
type due struct{ at, local, timezone, delay string }

func (d *due) flags(c *cobra.Command) {
	c.Flags().StringVar(&d.at, "at", "", "when to ring, such as 2027-01-31T09:00:00Z")
	c.Flags().StringVar(&d.local, "local", "", "when to ring by a clock on a wall, such as 2027-01-31T09:00; needs --timezone")
	c.Flags().StringVar(&d.timezone, "timezone", "", "the time zone of --local, such as Europe/Berlin")
	c.Flags().StringVar(&d.delay, "delay", "", "how long from now to ring, such as 30m")
	c.MarkFlagsMutuallyExclusive("at", "local", "delay")
	c.MarkFlagsOneRequired("at", "local", "delay")
	c.MarkFlagsRequiredTogether("local", "timezone")
}

func (d *due) terms() (terms client.Terms, err error) {
	terms.Timezone = d.timezone
	switch {
	case d.at != "":
		err = terms.DueAt.UnmarshalText([]byte(d.at))
	case d.local != "":
		err = terms.DueLocal.UnmarshalText([]byte(d.local))
	default:
		terms.Delay = new(timer.Duration)
		err = terms.Delay.UnmarshalText([]byte(d.delay))
	}
	if err != nil {
		err = program.Wrong(err)
	}
	return terms, err
}

func (s *shell) add() *cobra.Command {
	var when due
	var payload, url string
	var labels timer.Labels
	c := s.onTimer("add", "Book a timer", func(c *cobra.Command, wakecall *client.Client, key timer.Key) (timer.View, error) {
		terms, err := when.terms()
		if err != nil {
			return timer.View{}, err
		}
		if terms.Payload, err = payloadOf(payload); err != nil {
			return timer.View{}, err
		}
		if len(labels) > 0 {
			terms.Labels = &labels
		}
		if url != "" {
			terms.Callback = &timer.Callback{Destination: timer.HTTP(url)}
		}
		view, _, err := wakecall.Timers.Add(c.Context(), client.Booking{Key: key, Terms: terms})
		return view, err
	})
	c.Example = `wakecall add order-close/order-4711 --delay 30m --payload '{"order": 4711}'`
	when.flags(c)
	c.Flags().StringVar(&payload, "payload", "", "what the receiver gets, as JSON")
	c.Flags().StringToStringVar((*map[string]string)(&labels), "label", nil, "a mark to find it by, as key=value; may be given again")
	c.Flags().StringVar(&url, "url", "", "who is called, in place of the policy's callback")
	return c
}

// payloadOf reads a payload as a command line gives it; "" for none.
func payloadOf(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, program.Wrong(errors.New(`--payload must be JSON, such as '{"order": 4711}'; a text is JSON in its quotes`))
	}
	return json.RawMessage(text), nil
}

func (s *shell) move() *cobra.Command {
	var when due
	c := s.onTimer("move", "Move a timer", func(c *cobra.Command, wakecall *client.Client, key timer.Key) (timer.View, error) {
		terms, err := when.terms()
		if err != nil {
			return timer.View{}, err
		}
		view, _, err := wakecall.Timers.Patch(c.Context(), key, terms, nil)
		return view, err
	})
	c.Example += " --delay 2h"
	when.flags(c)
	return c
}

func (s *shell) list() *cobra.Command {
	var filter client.Filter
	var status string
	var within time.Duration
	var limit int
	c := &cobra.Command{Use: "list", Short: "List timers", Args: cobra.NoArgs, Example: "wakecall list --type order-close --status failed --limit 20"}
	c.RunE = call(s, s.showTimers, func(c *cobra.Command, wakecall *client.Client, _ []string) (views []timer.View, err error) {
		filter.Status = timer.Status(status)
		if within > 0 {
			filter.DueTo = s.Now().Add(within)
		}
		for view, err := range wakecall.Timers.List(c.Context(), filter) {
			if err != nil {
				return nil, err
			}
			if views = append(views, view); len(views) == limit {
				break
			}
		}
		return views, nil
	})
	c.Flags().StringVar(&filter.BusinessType, "type", "", "only timers of this business type")
	c.Flags().StringVar(&filter.BusinessID, "id", "", "only timers with this business id")
	c.Flags().StringVar(&status, "status", "", "only timers in this status")
	c.Flags().StringToStringVar((*map[string]string)(&filter.Labels), "label", nil, "only timers with this label; may be given again")
	c.Flags().StringVar((*string)(&filter.Sort), "sort", "", "due: the next one first; -due: the last one first")
	c.Flags().DurationVar(&within, "due-within", 0, "only timers that are due by then, such as 1h")
	c.Flags().IntVar(&limit, "limit", 100, "how many at most; 0 for all")
	completeWith(c, "status", timer.Statuses())
	return c
}

func (s *shell) attempts() *cobra.Command {
	return &cobra.Command{
		Use: "attempts " + timerArgument, Short: "Show the record of a timer's attempts", Args: cobra.ExactArgs(1),
		Example: "wakecall attempts order-close/order-4711",
		RunE: call(s, s.showAttempts, func(c *cobra.Command, wakecall *client.Client, args []string) (all []timer.ShownAttempt, err error) {
			key, err := keyOf(args[0])
			if err != nil {
				return nil, err
			}
			for attempt, err := range wakecall.Timers.Attempts(c.Context(), key) {
				if err != nil {
					return nil, err
				}
				all = append(all, attempt)
			}
			return all, nil
		}),
	}
}
