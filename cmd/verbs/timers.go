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

func (s *shell) pause() *cobra.Command {
	return s.noted("pause", "Pause a timer", func(timers client.Timers, c *cobra.Command, key wire.Key, note string) (timer.View, bool,
		error) {
		return timers.Pause(c.Context(), key, note)
	})
}

func (s *shell) resume() *cobra.Command {
	return s.noted("resume", "Resume a timer", func(timers client.Timers, c *cobra.Command, key wire.Key, note string) (timer.View,
		bool, error) {
		return timers.Resume(c.Context(), key, note)
	})
}

// noted returns a command on a timer with a note.
func (s *shell) noted(name, short string, do func(client.Timers, *cobra.Command, wire.Key, string) (timer.View, bool,
	error)) *cobra.Command {
	var note string
	c := reading(s, &cobra.Command{Use: name, Short: short}, s.showTimer,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) (timer.View, error) {
			view, pending, err := do(wakecall.Timers, c, key, note)
			s.notePending(pending)
			return view, err
		})
	c.Flags().StringVar(&note, "note", "", "the reason; the timer shows it")
	return c
}
