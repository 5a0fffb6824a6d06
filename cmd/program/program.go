package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wakecall/wakecall/internal/terminal"
)

// Build builds the tree of commands. It makes no call.
type Build func(Streams) *cobra.Command

// Execute runs the command line of the process and returns its exit code. SIGINT and SIGTERM end
// the context of the command.
func Execute(build Build) (exit int) {
	// A command goes on after its reader has left: a write then fails as on a full disk.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, os.Args[1:], Standard(), build)
}

// Run runs a command line and returns its exit code.
func Run(ctx context.Context, args []string, streams Streams, build Build) (exit int) {
	out := &output{to: streams.Out}
	streams.Out, streams.In = out, interruptible(ctx, streams.In)
	root := build(streams)
	root.SilenceErrors, root.SilenceUsage, root.TraverseChildren = true, true, true
	root.PersistentPreRunE = checkFlags
	root.SetHelpCommand(help())
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(streams.Err)
	begun := markBegin(root)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !*begun {
		err = Wrong(err)
	}
	if out.err != nil && (err == nil || errors.Is(err, out.err)) {
		return unwritten(streams.Err, out.err)
	}
	exit = exitCode(err)
	switch exit {
	case ExitDone:
	case ExitInterrupted:
		complain(streams.Err, errInterrupted)
	case ExitUsage:
		complain(streams.Err, err)
		explain(streams.Err, command)
	default:
		complain(streams.Err, err)
	}
	return exit
}

// errInterrupted is the error of a command whose context ended.
var errInterrupted = errors.New("interrupted")

// markBegin reports, after the tree has run, whether a command began. An error before that is a
// usage error.
func markBegin(root *cobra.Command) *bool {
	begun := new(bool)
	var mark func(*cobra.Command)
	mark = func(c *cobra.Command) {
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				*begun = true
				return run(c, args)
			}
		}
		for _, below := range c.Commands() {
			mark(below)
		}
	}
	mark(root)
	return begun
}

// unwritten handles an answer that could not be written. It is silent if the reader has left:
// head(1) does so.
func unwritten(to io.Writer, err error) (exit int) {
	if !errors.Is(err, syscall.EPIPE) {
		complain(to, fmt.Errorf("the answer could not be written: %w", err))
	}
	return ExitUnwritten
}

// complain prints every line of an error.
func complain(to io.Writer, err error) {
	to = terminal.Writer(to)
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, _ = fmt.Fprintln(to, "wakecall:", line)
	}
}

// explain prints the usage of a command.
func explain(to io.Writer, command *cobra.Command) {
	if !command.HasParent() {
		_, _ = fmt.Fprint(to, command.UsageString())
		return
	}
	_, _ = fmt.Fprintln(to, "Usage:", command.UseLine())
	if example, _, _ := strings.Cut(command.Example, "\n"); example != "" {
		_, _ = fmt.Fprintln(to, "Example:", strings.TrimSpace(example))
	}
}

// help returns the help command. Cobra's own reports no error for an unknown command.
func help() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show how to use a command", Example: "wakecall help add",
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Wrong(fmt.Errorf("unknown command %q", strings.Join(args, " ")))
			}
			return of.Help()
		},
	}
}

// Group returns a command with subcommands. By default cobra answers an unknown one with help,
// and no error.
func Group(name, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Wrong(fmt.Errorf("%q needs a subcommand: see %[1]s --help", c.CommandPath()))
		}
		return Wrong(fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath()))
	}
	c.AddCommand(below...)
	return c
}

// checkFlags refuses flags without a value or effect: to ignore a condition would make a command
// do more than it should.
func checkFlags(c *cobra.Command, _ []string) error {
	var faults []error
	check := func(flag *pflag.Flag) {
		if reason := emptiness(flag); reason != "" {
			faults = append(faults, fmt.Errorf("--%s %s", flag.Name, reason))
		}
	}
	for above := c.Parent(); above != nil; above = above.Parent() {
		above.Flags().Visit(func(flag *pflag.Flag) {
			if c.Flags().Lookup(flag.Name) == nil {
				faults = append(faults, fmt.Errorf("--%s has no effect on %s", flag.Name, c.CommandPath()))
				return
			}
			check(flag)
		})
	}
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !c.HasParent() {
			faults = append(faults, fmt.Errorf("--%s has no effect without a command", flag.Name))
			return
		}
		check(flag)
	})
	return errors.Join(faults...)
}

// CountType is the type of flags with a number of at least 1. Of other numbers, 0 is for all.
const CountType = "number"

// emptiness returns why the value of a flag is empty; "" if it is not.
func emptiness(flag *pflag.Flag) string {
	text := flag.Value.String()
	negative := strings.HasPrefix(text, "-")
	switch flag.Value.Type() {
	case "string":
		if text == "" {
			return "must not be empty"
		}
	case "stringSlice":
		if text == "[]" {
			return "must not be empty"
		}
	case "duration", "float64", CountType:
		switch {
		case text == "NaN" || strings.HasSuffix(text, "Inf"):
			return "must be a finite number"
		case negative || text == "0" || text == "0s":
			return "must be above 0"
		}
	case "int":
		if negative {
			return "must not be negative"
		}
	}
	return ""
}
