package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// exampleTimer is the timer of the examples.
const exampleTimer = "order-close/order-4711"

// timerVerbs are the commands on timers.
type timerVerbs struct{ *shell }

// change changes a timer. pending reports whether the change is durable but not applied yet.
type change func(c *cobra.Command, wakecall *client.Client, key wire.Key, wait client.Wait) (view timer.View, pending bool, err error)

// changing returns a command that changes a timer.
func (v timerVerbs) changing(name, short string, do change) *cobra.Command {
	var wait string
	c := &cobra.Command{
		Use: name + " " + timerArgument, Short: short, Args: cobra.ExactArgs(1), Example: "wakecall " + name + " " + exampleTimer,
		RunE: call(v.shell, v.showTimer, func(c *cobra.Command, wakecall *client.Client, args []string) (view timer.View, err error) {
			key, err := keyOf(args[0])
			if err != nil {
				return view, err
			}
			timeout, err := waitOf(wait)
			if err != nil {
				return view, err
			}
			view, pending, err := do(c, wakecall, key, timeout)
			v.notePending(pending)
			return view, err
		}),
	}
	waitFlag(c, &wait)
	return c
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

func (v timerVerbs) get() *cobra.Command {
	return reading(v.shell, &cobra.Command{Use: "get", Short: "Show a timer"}, v.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			return wakecall.Timers.Get(c.Context(), key)
		})
}

func (v timerVerbs) payload() *cobra.Command {
	return withoutJSON(reading(v.shell, &cobra.Command{Use: "payload", Short: "Write a timer's payload, byte for byte"}, v.showPayload,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.Payload, error) {
			return wakecall.Timers.Payload(c.Context(), key)
		}))
}

func (v timerVerbs) showPayload(p timer.Payload) { _, _ = v.Out.Write(p.Data) }

func (v timerVerbs) cancel() *cobra.Command {
	return v.changing("cancel", "Cancel a timer", func(c *cobra.Command, wakecall *client.Client, key wire.Key,
		wait client.Wait) (timer.View, bool, error) {
		return wakecall.Timers.Cancel(c.Context(), key, wait)
	})
}

func (v timerVerbs) fire() *cobra.Command {
	return v.changing("fire", "Ring a timer now", func(c *cobra.Command, wakecall *client.Client, key wire.Key,
		wait client.Wait) (timer.View, bool, error) {
		return wakecall.Timers.Fire(c.Context(), key, wait)
	})
}

func (v timerVerbs) redeliver() *cobra.Command {
	return reading(v.shell, &cobra.Command{Use: "redeliver", Short: "Try a failed timer again"}, v.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			return wakecall.Timers.Redeliver(c.Context(), key)
		})
}

func (v timerVerbs) attempts() *cobra.Command {
	var limit int
	c := reading(v.shell, &cobra.Command{Use: "attempts", Short: "Show the record of a timer's attempts"}, v.showAttempts,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) ([]delivery.ShownAttempt, error) {
			return collect(wakecall.Timers.Attempts(c.Context(), key), limit)
		})
	limitFlag(c, &limit)
	return c
}

func (v timerVerbs) pause() *cobra.Command {
	return v.noting("pause", "Pause a timer",
		func(c *cobra.Command, timers client.Timers, key wire.Key, note string) (timer.View, bool, error) {
			return timers.Pause(c.Context(), key, note)
		})
}

func (v timerVerbs) resume() *cobra.Command {
	return v.noting("resume", "Resume a timer",
		func(c *cobra.Command, timers client.Timers, key wire.Key, note string) (timer.View, bool, error) {
			return timers.Resume(c.Context(), key, note)
		})
}

// notedChange changes a timer for a reason. pending reports that no worker has applied it yet.
type notedChange func(c *cobra.Command, timers client.Timers, key wire.Key, note string) (view timer.View, pending bool, err error)

// noting returns a command that changes a timer, and has a flag for the reason.
func (v timerVerbs) noting(name, short string, do notedChange) *cobra.Command {
	var note string
	c := reading(v.shell, &cobra.Command{Use: name, Short: short}, v.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			view, pending, err := do(c, wakecall.Timers, key, note)
			v.notePending(pending)
			return view, err
		})
	c.Flags().StringVar(&note, "note", "", "the reason; the timer shows it")
	return c
}
