package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/internal/apply"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/terminal"
)

// What a command exits with.
const (
	ExitDone = 0
	// ExitFailure: it was done in part, or not gone on with.
	ExitFailure = 1
	// ExitUsage: the command line is wrong, and nothing was asked.
	ExitUsage = 2
	// ExitNotFound: there is no such timer, policy, job or dispatch.
	ExitNotFound = 3
	// ExitRefused: Wakecall refused it, as it stands.
	ExitRefused = 4
	// ExitUnavailable: Wakecall does not answer, or asks to try again later.
	ExitUnavailable = 5
)

// Streams is where a command prints.
type Streams struct {
	Out, Err io.Writer
	// Colour is whether Out is a terminal that takes colours, and Live whether Err is one.
	Colour, Live bool
	// In is where a question is answered, and Asks whether there is somebody to ask.
	In   io.Reader
	Asks bool
	Now  func() time.Time
	// Poll is the time between two looks at what takes long.
	Poll time.Duration
}

// Standard are those of the process.
func Standard() Streams {
	live := isTerminal(os.Stderr)
	return Streams{
		Out: os.Stdout, Err: os.Stderr, Colour: isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "", Live: live,
		In: os.Stdin, Asks: live && isTerminal(os.Stdin), Now: time.Now, Poll: jobPoll,
	}
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Knows is whether a command of this name is one of these.
func Knows(name string) bool {
	commands := New(Streams{}).Commands()
	return name == "completion" || name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd ||
		slices.ContainsFunc(commands, func(c *cobra.Command) bool { return c.Name() == name })
}

// Run carries out a command line and returns its exit code.
func Run(ctx context.Context, args []string, streams Streams) (exit int) {
	root := New(streams)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if exit = exitOf(err); err != nil {
		_, _ = fmt.Fprintln(terminal.Writer(streams.Err), "wakecall:", err)
	}
	if exit == ExitUsage {
		_, _ = fmt.Fprintln(streams.Err, "Usage:", command.UseLine())
	}
	return exit
}

// failure is an error of a call, and not of the command line.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

func exitOf(err error) int {
	var of failure
	var part unfinished
	switch problem, refused := errors.AsType[*client.Problem](err); {
	case err == nil:
		return ExitDone
	case errors.As(err, &part):
		return ExitFailure
	case refused && problem.Status == http.StatusNotFound:
		return ExitNotFound
	case refused && (problem.Status >= http.StatusInternalServerError || problem.Status == http.StatusTooManyRequests):
		return ExitUnavailable
	case refused:
		return ExitRefused
	case errors.As(err, &of):
		return ExitUnavailable
	default:
		return ExitUsage
	}
}

// shell is what the commands share.
type shell struct {
	Streams
	server, key string
	json        bool
}

// New returns the commands. Nothing is called before one of them is run.
func New(streams Streams) *cobra.Command {
	s := &shell{Streams: streams}
	root := &cobra.Command{
		Use: "wakecall", Short: "An alarm clock for services", SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return checkGiven(c.Flags()) },
	}
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	flags := root.PersistentFlags()
	flags.StringVar(&s.server, "server", "", "where the API is; by default WAKECALL_URL, or http://127.0.0.1:8080")
	flags.StringVar(&s.key, "key", "", "the API key; by default WAKECALL_API_KEY")
	flags.BoolVar(&s.json, "json", false, "print what the API said, as JSON")
	root.AddCommand(s.add(), s.get(), s.list(), s.move(), s.cancel(), s.fire(), s.redeliver(), s.attempts(), s.stats(), s.forecast(),
		s.policies(), s.emergency(), s.bulk(), s.dispatch())
	return root
}

// group is a command that has others below it. cobra would answer one that it does not know
// with help, and no error.
func group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return wrongUsage{fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())}
		},
	}
}

// wakecall is the client that the flags and the environment name.
func (s *shell) wakecall() (*client.Client, error) {
	var settings apply.Settings
	if err := config.ReadClient(&settings); err != nil {
		return nil, err
	}
	options := client.Options{URL: settings.URL, Key: settings.APIKey}
	if s.server != "" {
		options.URL = s.server
	}
	if s.key != "" {
		options.Key = s.key
	}
	return client.New(options), nil
}

// call makes a command of one call; what it returns is printed.
func call[T any](s *shell, show func(T), do func(*cobra.Command, *client.Client, []string) (T, error)) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		wakecall, err := s.wakecall()
		if err != nil {
			return err
		}
		answer, err := do(c, wakecall, args)
		var usage wrongUsage
		switch {
		case errors.As(err, &usage):
			return err
		case err != nil:
			return failure{err}
		case s.json:
			return s.printJSON(answer)
		}
		show(answer)
		return nil
	}
}

// wrongUsage is an argument that cannot be read.
type wrongUsage struct{ error }
