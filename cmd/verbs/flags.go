package verbs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/wire"
)

// durationFlag is a flag with the API's form of a duration, such as "3d".
type durationFlag struct{ to *time.Duration }

func addDuration(c *cobra.Command, to *time.Duration, name, usage string) {
	c.Flags().Var(durationFlag{to}, name, usage)
	c.Flags().Lookup(name).DefValue = "" // help shows no default of 0s
}

func (f durationFlag) String() string { return f.to.String() }

// Set implements [github.com/spf13/pflag.Value].
func (f durationFlag) Set(text string) error {
	var d wire.Duration
	err := d.UnmarshalText([]byte(text))
	*f.to = d.D()
	return err
}

// Type implements [github.com/spf13/pflag.Value].
func (durationFlag) Type() string { return "duration" }

// countFlag is a flag with a number of at least 1, as 0 would mean the default.
type countFlag struct{ to *int }

func addCount(c *cobra.Command, to *int, name, usage string) {
	c.Flags().Var(countFlag{to}, name, usage)
}

func (f countFlag) String() string { return strconv.Itoa(*f.to) }

// Set implements [github.com/spf13/pflag.Value].
func (f countFlag) Set(text string) (err error) {
	*f.to, err = strconv.Atoi(text)
	return err
}

// Type implements [github.com/spf13/pflag.Value].
func (countFlag) Type() string { return program.CountType }

// typeAtMost is the one argument of commands that show all business types without it.
func typeAtMost(c *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return errors.New("TYPE must not be empty; leave it out for all business types")
	}
	return cobra.MaximumNArgs(1)(c, args)
}

// limitFlag adds the flag that bounds a list.
func limitFlag(c *cobra.Command, limit *int) {
	c.Flags().IntVar(limit, "limit", 100, "how many at most; 0 for all")
}

// waitFlag adds the flag for a change's wait for its effect.
func waitFlag(c *cobra.Command, text *string) {
	c.Flags().StringVar(text, "wait", "", "how long to wait for the effect, such as 10s; 0s for not at all")
}

func waitOf(text string) (client.Wait, error) {
	if text == "" {
		return nil, nil
	}
	wait := new(wire.Duration)
	if err := wait.UnmarshalText([]byte(text)); err != nil {
		return nil, program.Wrong(fmt.Errorf("--wait: %w", err))
	}
	return wait, nil
}

// instantOf parses a time; "" is none.
func instantOf(flag, text string) (at wire.Instant, err error) {
	if text == "" {
		return 0, nil
	}
	if err := at.UnmarshalText([]byte(text)); err != nil {
		return 0, program.Wrong(fmt.Errorf("--%s: %w", flag, err))
	}
	return at, nil
}

// completeWith makes the shell complete a flag by one of these words.
func completeWith[T ~string](c *cobra.Command, flag string, words []T) {
	_ = c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		for _, word := range words {
			names = append(names, string(word))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

const timerArgument = "TYPE/ID"

// keyOf parses the key of a timer or a dispatch on a command line.
func keyOf(text string) (wire.Key, error) {
	key, ok := wire.ParseKey(text)
	if !ok {
		return key, program.Wrong(errors.New(text + " is not a key: write it as " + timerArgument))
	}
	return key, nil
}
