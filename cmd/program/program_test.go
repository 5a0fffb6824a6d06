package program

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/problem"
)

// saying returns a tree with one command, which prints and then returns an error.
func saying(text string, err error) Build {
	return func(streams Streams) *cobra.Command {
		root := Group("wakecall", "")
		root.Flags().String("server", "", "")
		say := &cobra.Command{Use: "say WORD", Example: "wakecall say hello", Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, _ []string) error {
			_, _ = fmt.Fprint(streams.Out, text)
			return err
		}}
		say.Flags().String("server", "", "")
		say.Flags().String("tone", "", "")
		role := &cobra.Command{Use: "serve", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
		root.AddCommand(say, role, Group("bulk", "", &cobra.Command{Use: "list", RunE: func(*cobra.Command, []string) error { return nil }}))
		return root
	}
}

func run(t *testing.T, build Build, args ...string) (exit int, out, complaint string) {
	var printed, said bytes.Buffer
	exit = Run(t.Context(), args, Streams{Out: &printed, Err: &said}, build)
	return exit, printed.String(), said.String()
}

// Each kind of error has its exit code, also for subcommands.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	problem := func(status int) error {
		return &client.Problem{Document: problem.Document{Status: status, Detail: "no"}}
	}
	for name, c := range map[string]struct {
		err  error
		exit int
	}{
		"done":                {nil, ExitDone},
		"at this end":         {errors.New("json: no such value"), ExitFailure},
		"in part":             {Partial(problem(503)), ExitFailure},
		"wrong call":          {Wrong(errors.New("no such day")), ExitUsage},
		"not found":           {problem(http.StatusNotFound), ExitNotFound},
		"refused":             {problem(http.StatusUnprocessableEntity), ExitRefused},
		"no key":              {problem(http.StatusUnauthorized), ExitRefused},
		"too many":            {problem(http.StatusTooManyRequests), ExitUnavailable},
		"broken":              {problem(http.StatusInternalServerError), ExitUnavailable},
		"not there":           {&url.Error{Op: "Get", URL: "http://h", Err: syscall.ECONNREFUSED}, ExitUnavailable},
		"too late":            {&url.Error{Op: "Get", URL: "http://h", Err: context.DeadlineExceeded}, ExitUnavailable},
		"not trusted":         {&url.Error{Op: "Get", URL: "https://h", Err: &tls.CertificateVerificationError{Err: errors.New("expired")}}, ExitFailure},
		"interrupted":         {context.Canceled, ExitInterrupted},
		"interrupted a call":  {&url.Error{Op: "Get", URL: "http://h", Err: context.Canceled}, ExitInterrupted},
		"several, one refuse": {errors.Join(problem(422), errors.New("nothing was applied")), ExitRefused},
	} {
		for _, err := range []error{c.err, fmt.Errorf("orders: %w", c.err)} {
			if c.err == nil {
				err = nil
			}
			exit, _, complaint := run(t, saying("", err), "say", "a")
			require.Equal(t, c.exit, exit, name)
			require.Equal(t, err != nil, strings.HasPrefix(complaint, "wakecall: "), name)
		}
	}
}

// A usage error shows the fault, the usage and an example.
func TestAWrongCallShowsAnExample(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"say"}, {"say", "a", "b"}, {"say", "a", "--what"}, {"say", "a", "--tone="}} {
		exit, out, complaint := run(t, saying("", nil), args...)
		require.Equal(t, ExitUsage, exit, args)
		require.Empty(t, out)
		require.Regexp(t, `^wakecall: .*\nUsage: wakecall say WORD \[flags\]\nExample: wakecall say hello\n$`, complaint)
	}
	for _, args := range [][]string{nil, {"bulk"}, {"what"}, {"bulk", "what"}, {"--what"}, {"help", "what"}, {"help", "bulk", "what"}} {
		exit, _, complaint := run(t, saying("", nil), args...)
		require.Equal(t, ExitUsage, exit, args)
		require.Contains(t, complaint, "Usage:", args)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"help", "say"}, {"help", "bulk", "list"}, {"say", "--help"}} {
		exit, out, complaint := run(t, saying("", nil), args...)
		require.Equal(t, ExitDone, exit, args)
		require.Contains(t, out, "Usage:", args)
		require.Empty(t, complaint)
	}
}

// Flags of the root may come first, and are refused by commands without them.
func TestFlagsInFront(t *testing.T) {
	t.Parallel()
	exit, _, _ := run(t, saying("", nil), "--server", "say", "say", "a")
	require.Equal(t, ExitDone, exit)
	for _, args := range [][]string{{"--server", "x", "serve"}, {"--server=", "say", "a"}, {"--server", "x"}} {
		exit, _, complaint := run(t, saying("", nil), args...)
		require.Equal(t, ExitUsage, exit, args)
		require.Contains(t, complaint, "--server")
	}
}

// full is a full disk.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// A failed write is no success, and hides no other failure.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disk, err error
		exit      int
		says      string
	}{
		"a full disk":         {syscall.ENOSPC, nil, ExitUnwritten, "wakecall: the answer could not be written: no space left on device\n"},
		"a closed pipe":       {syscall.EPIPE, nil, ExitUnwritten, ""},
		"and another failure": {syscall.ENOSPC, &client.Problem{Document: problem.Document{Status: 404, Detail: "none"}}, ExitNotFound, "wakecall: none\n"},
	} {
		var said bytes.Buffer
		exit := Run(t.Context(), []string{"say", "a"}, Streams{Out: full{c.disk}, Err: &said}, saying("x", c.err))
		require.Equal(t, c.exit, exit, name)
		require.Equal(t, c.says, said.String(), name)
	}
	for _, args := range [][]string{{"--help"}, {"say", "--help"}, {"completion", "bash"}} {
		require.Equal(t, ExitUnwritten, Run(t.Context(), args, Streams{Out: full{syscall.ENOSPC}, Err: io.Discard}, saying("", nil)), args)
	}
}

// A character device is not always a terminal.
func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { _ = null.Close() }()
	require.False(t, isTerminal(null))
	if terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err == nil {
		defer func() { _ = terminal.Close() }()
		require.True(t, isTerminal(terminal), "the oracle sees a terminal")
	}
}

// A command that waits for its standard input ends with its context, since nobody may type more.
func TestInterruptedReading(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	terminal, hangUp := io.Pipe()
	defer func() { _ = hangUp.Close() }()
	var got []byte
	build := func(streams Streams) *cobra.Command {
		root := Group("wakecall", "")
		root.AddCommand(&cobra.Command{Use: "read", RunE: func(*cobra.Command, []string) (err error) {
			got, err = io.ReadAll(streams.In)
			return Wrong(err)
		}})
		return root
	}
	go func() {
		_, _ = hangUp.Write([]byte("typed"))
		interrupt()
	}()
	var said bytes.Buffer
	require.Equal(t, ExitInterrupted, Run(ctx, []string{"read"}, Streams{In: terminal, Out: io.Discard, Err: &said}, build))
	require.Equal(t, "wakecall: interrupted\n", said.String())
	require.Contains(t, []string{"", "typed"}, string(got), "what was read is whole or absent")
}
