package node

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/cmd/program"
)

func run(t *testing.T, args ...string) (exit int, out, complaint string) {
	var printed, said bytes.Buffer
	exit = program.Run(t.Context(), args, program.Streams{Out: &printed, Err: &said}, node("v1.2.3"))
	return exit, printed.String(), said.String()
}

func TestTheVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		exit, out, _ := run(t, arg)
		require.Equal(t, program.ExitDone, exit)
		require.Equal(t, "v1.2.3\n", out)
	}
}

// The help names exactly the existing commands.
func TestTheHelpNamesEveryCommand(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		exit, out, _ := run(t, args...)
		require.Equal(t, program.ExitDone, exit)
		for _, c := range node("")(program.Streams{}).Commands() {
			require.Regexp(t, `(?m)^  `+c.Name()+` +`+regexp.QuoteMeta(c.Short)+`$`, out)
		}
	}
	_, _, usage := run(t)
	require.Regexp(t, `(?m)^  stats +Count`, usage)
}

// A role has no flags of verbs, before it or after it.
func TestARoleHasNoFlagsOfAVerb(t *testing.T) {
	for _, role := range []string{"serve", "api", "worker", "version"} {
		_, out, _ := run(t, role, "--help")
		require.NotContains(t, out, "--server")
		for _, args := range [][]string{{role, "--server", "http://h"}, {"--json", role}, {role, "more"}} {
			exit, _, complaint := run(t, args...)
			require.Equal(t, program.ExitUsage, exit, args)
			require.NotEmpty(t, complaint)
		}
	}
}

// One page lists the exit codes with their meanings.
func TestThePageHasEveryExitCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	var codes []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| .`).FindAllStringSubmatch(string(page), -1) {
		codes = append(codes, row[1])
	}
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6", "130"}, codes)
}

// Every command has an example with valid flags.
func TestEveryCommandHasAnExample(t *testing.T) {
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if c.HasSubCommands() && c.Example == "" || c.Name() == "version" {
			return
		}
		require.NotEmpty(t, c.Example, c.CommandPath())
		for line := range strings.Lines(c.Example) {
			require.Contains(t, line+" ", c.CommandPath()+" ", "the example of %s calls it", c.CommandPath())
		}
		seen++
	}
	root := node("")(program.Streams{})
	walk(root)
	require.Greater(t, seen, 20, "the oracle sees commands")
}

// Each wrong setting is a line.
func TestWrongSettings(t *testing.T) {
	t.Setenv("WAKECALL_LOG_LEVL", "info")
	exit, _, complaint := run(t, "serve")
	require.Equal(t, program.ExitFailure, exit)
	require.Equal(t, "wakecall: WAKECALL_LOG_LEVL: there is no such setting; did you mean WAKECALL_LOG_LEVEL?\n", complaint)
}

// Those of Temporal are read by its SDK, whose errors do not say what they are about.
func TestWrongSettingsOfTemporal(t *testing.T) {
	t.Setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", "client.key")
	exit, _, complaint := run(t, "serve")
	require.Equal(t, program.ExitFailure, exit)
	require.Contains(t, complaint, "wakecall: the connection to Temporal (TEMPORAL_…, temporal.toml): invalid TLS config: ")
}
