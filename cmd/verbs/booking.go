package verbs

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// due holds the flags for the time of a ring.
type due struct{ at, local, timezone, delay, rule string }

// dueFlags are the flags that exclude one another.
var dueFlags = []string{"at", "local", "delay", "rule"}

func (d *due) flags(c *cobra.Command) {
	c.Flags().StringVar(&d.at, "at", "", "when to ring, such as 2027-01-31T09:00:00Z")
	c.Flags().StringVar(&d.local, "local", "", "when to ring in local time, such as 2027-01-31T09:00; needs --timezone")
	c.Flags().StringVar(&d.timezone, "timezone", "", "the time zone of --local or --rule, such as Europe/Berlin")
	c.Flags().StringVar(&d.delay, "delay", "", "how long from now to ring, such as 30m")
	c.Flags().StringVar(&d.rule, "rule", "", "when to ring repeatedly: a cron expression, or a rule as "+documentForms)
	c.MarkFlagsMutuallyExclusive(dueFlags...)
}

// read adds the time of the ring to the terms.
func (d *due) read(s *shell, terms *client.Terms) (err error) {
	if d.local != "" && d.timezone == "" {
		return program.Wrong(errors.New("--local needs --timezone, such as Europe/Berlin"))
	}
	if d.timezone != "" && d.local == "" && d.rule == "" {
		return program.Wrong(errors.New("--timezone needs --local or --rule"))
	}
	switch {
	case d.at != "":
		err = terms.DueAt.UnmarshalText([]byte(d.at))
	case d.local != "":
		terms.Timezone = d.timezone
		err = terms.DueLocal.UnmarshalText([]byte(d.local))
	case d.delay != "":
		terms.Delay = new(wire.Duration)
		err = terms.Delay.UnmarshalText([]byte(d.delay))
	case d.rule != "":
		terms.Recurrence, err = ruleOf(s, d.rule, d.timezone)
	}
	if err != nil {
		return program.Wrong(err)
	}
	return nil
}

// booking holds the flags of a timer.
type booking struct {
	due
	payload, url, set string
	labels            timer.Labels
	paused            bool
}

func (b *booking) flags(c *cobra.Command) {
	b.due.flags(c)
	c.Flags().StringVar(&b.payload, "payload", "", "the payload for the receiver, as "+documentForms)
	c.Flags().StringToStringVar((*map[string]string)(&b.labels), "label", nil, "a label, as key=value; may be repeated")
	c.Flags().StringVar(&b.url, "url", "", "the URL to call, in place of the policy's callback")
	c.Flags().BoolVar(&b.paused, "paused", false, "book it paused, until wakecall resume")
	c.Flags().StringVar(&b.set, "set", "", `more fields of the API, such as '{"priority": 1, "expires_after": "2h"}', as `+documentForms)
}

// terms returns the terms of the flags. Single flags override --set.
func (b *booking) terms(s *shell) (terms client.Terms, err error) {
	if b.set != "" {
		if err = s.fill("--set", b.set, &terms); err != nil {
			return terms, err
		}
	}
	if err = b.read(s, &terms); err != nil {
		return terms, err
	}
	if b.payload != "" {
		if terms.Payload, err = s.document("--payload", b.payload); err != nil {
			return terms, err
		}
	}
	if len(b.labels) > 0 {
		terms.Labels = &b.labels
	}
	if b.url != "" {
		terms.Callback = &delivery.Callback{Destination: delivery.HTTP(b.url)}
	}
	switch {
	case !b.paused:
	case terms.Recurrence != nil:
		terms.Recurrence.Paused = true
	default:
		terms.Paused = &b.paused
	}
	return terms, nil
}

// bookingVerbs are the commands that book and edit timers.
type bookingVerbs struct{ timerVerbs }

func (v bookingVerbs) add() *cobra.Command {
	b := &booking{}
	c := reading(v.shell, &cobra.Command{Use: "add", Short: "Book a timer"}, v.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			terms, err := b.terms(v.shell)
			if err != nil {
				return timer.View{}, err
			}
			view, _, err := wakecall.Timers.Add(c.Context(), client.Booking{Key: key, Terms: terms})
			return view, err
		})
	c.Example += ` --delay 30m --payload '{"order": 4711}'`
	b.flags(c)
	c.MarkFlagsOneRequired(append(dueFlags, "set")...)
	return c
}

func (v bookingVerbs) put() *cobra.Command {
	b := &booking{}
	c := v.changing("put", "Book a timer, or replace an existing one",
		func(c *cobra.Command, wakecall *client.Client, key wire.Key, wait client.Wait) (view timer.View, pending bool, err error) {
			terms, err := b.terms(v.shell)
			if err != nil {
				return view, false, err
			}
			return wakecall.Timers.Put(c.Context(), client.Booking{Key: key, Terms: terms}, wait)
		})
	c.Example += ` --delay 30s --set '{"max_wait": "5m"}'`
	b.flags(c)
	c.MarkFlagsOneRequired(append(dueFlags, "set")...)
	return c
}

func (v bookingVerbs) move() *cobra.Command {
	d := &due{}
	c := v.changing("move", "Move a timer",
		func(c *cobra.Command, wakecall *client.Client, key wire.Key, wait client.Wait) (view timer.View, pending bool, err error) {
			var terms client.Terms
			if err = d.read(v.shell, &terms); err != nil {
				return view, false, err
			}
			return wakecall.Timers.Patch(c.Context(), key, terms, wait)
		})
	c.Example += " --delay 2h"
	d.flags(c)
	c.MarkFlagsOneRequired(dueFlags...)
	return c
}

func (v bookingVerbs) edit() *cobra.Command {
	b := &booking{}
	c := v.changing("edit", "Change some fields of a timer",
		func(c *cobra.Command, wakecall *client.Client, key wire.Key, wait client.Wait) (view timer.View, pending bool, err error) {
			terms, err := b.terms(v.shell)
			if err != nil {
				return view, false, err
			}
			return wakecall.Timers.Patch(c.Context(), key, terms, wait)
		})
	c.Example += ` --payload '{"order": 4711, "paid": true}'`
	b.flags(c)
	c.MarkFlagsOneRequired(append(dueFlags, "set", "payload", "label", "url", "paused")...)
	return c
}
