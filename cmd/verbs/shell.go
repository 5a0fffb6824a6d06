package verbs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
)

// shell is the state that the commands share.
type shell struct {
	program.Streams
	connection
	json bool
}

// flags adds the flags of every verb.
func (s *shell) flags(c *cobra.Command) {
	s.connection.flags(c)
	if c.Annotations[noJSON] == "" {
		c.Flags().BoolVar(&s.json, "json", false, "print the API's answer as JSON")
	}
}

// noJSON marks a command that prints no answer of the API.
const noJSON = "no-json"

func withoutJSON(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{noJSON: "true"}
	return c
}

// flagsBelow adds the flags to a command and all below it, so that they may follow any word.
func (s *shell) flagsBelow(c *cobra.Command) {
	s.flags(c)
	for _, below := range c.Commands() {
		s.flagsBelow(below)
	}
}

// action runs a command with its arguments.
type action[T any] func(c *cobra.Command, wakecall *client.Client, args []string) (T, error)

// call returns the run function of a command with one call, and prints the result.
func call[T any](s *shell, show func(T), do action[T]) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		wakecall, err := s.client()
		if err != nil {
			return err
		}
		answer, err := do(c, wakecall, args)
		switch {
		case err != nil:
			return err
		case s.json:
			return s.printJSON(answer)
		}
		show(answer)
		return nil
	}
}

// silent returns a command without an answer from the API.
func (s *shell) silent(c *cobra.Command, done string, do func(*cobra.Command, *client.Client, []string) error) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) error {
		wakecall, err := s.client()
		if err == nil {
			err = do(c, wakecall, args)
		}
		if err == nil {
			_, err = fmt.Fprintln(s.Out, done)
		}
		return err
	}
	return withoutJSON(c)
}

// notePending notes that a change takes effect later.
func (s *shell) notePending(pending bool) {
	if pending {
		s.complain("It is durable, and no worker has applied it yet.\n")
	}
}
