package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// starting are the modules whose tests start our programs.
var starting = regexp.MustCompile(`cd (?:e2e|bench|deploy/helm) && (.*)`)

var (
	rule      = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):([^=\n#]*)[^\n]*\n((?:\t[^\n]*\n)*)`)
	continued = regexp.MustCompile(`\\\n\t+`)
	exported  = regexp.MustCompile(`(?m)^([a-z -]+): export WAKECALL_COMPILED = \$\(shell cat \$\(COMPILED\)`)
	binary    = regexp.MustCompile(`(?m)^\tcd (\S+) && \$\(GO_BUILD\) .*-o \$\(WAKECALL_\w+\) \.$`)
	listed    = regexp.MustCompile(`for module in ([^;]+); do \(cd \$\$module && \$\(AS_BUILT\) go list -deps -export -f '\{\{\.BuildID\}\}' \.\); done`)
)

// keptTooLong lists the targets that may show the result of an earlier program: Go keeps the
// results of their tests, and what these depend on lacks what the programs are compiled from.
func keptTooLong(makefile string) (targets []string) {
	var told []string
	if match := exported.FindStringSubmatch(makefile); match != nil {
		told = strings.Fields(match[1])
	}
	for _, match := range rule.FindAllStringSubmatch(continued.ReplaceAllString(makefile, " "), -1) {
		target, needs := match[1], strings.Fields(match[2])
		kept := slices.ContainsFunc(starting.FindAllStringSubmatch(match[3], -1), func(line []string) bool {
			return isKept(line[1])
		})
		if kept && (!slices.Contains(needs, "compiled") || !slices.Contains(told, target)) {
			targets = append(targets, target)
		}
	}
	return targets
}

// isKept reports whether Go keeps the results of a command: a benchmark's and a counted test's
// it does not keep.
func isKept(command string) bool {
	tests := strings.Contains(command, "$(GO_TEST)") || strings.Contains(command, "go test ")
	return tests && !strings.Contains(command, "-count=1") && !strings.Contains(command, "-bench ")
}

// forgotten lists the directories of programs that the tests start and that `make compiled`
// does not read.
func forgotten(makefile string) (dirs []string) {
	var read []string
	if match := listed.FindStringSubmatch(makefile); match != nil {
		read = strings.Fields(match[1])
	}
	for _, match := range binary.FindAllStringSubmatch(makefile, -1) {
		if !slices.Contains(read, match[1]) {
			dirs = append(dirs, match[1])
		}
	}
	return dirs
}

// Go keeps the result of a test on a whole deployment until the programs of it are compiled from
// something else. That naming one of them reads the variable is a test of e2e/process.
func TestKeptResultsDependOnThePrograms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	makefile := string(text)
	require.Empty(t, keptTooLong(makefile))
	require.Empty(t, forgotten(makefile))
	require.Len(t, binary.FindAllString(makefile, -1), 2, "the oracle sees programs, beside that of the checkout itself")

	require.Equal(t, []string{"test-pace"}, keptTooLong(strings.Replace(makefile, "test-pace: compiled", "test-pace: build", 1)), "the oracle sees a target that computes nothing")
	require.Equal(t, []string{"test-smoke"}, keptTooLong(strings.Replace(makefile, "test-smoke test-pace test-race: export", "test-pace test-race: export", 1)), "and one that is told nothing")
	require.Len(t, keptTooLong(strings.Replace(makefile, "export WAKECALL_COMPILED", "export WAKECALL_COMPLIED", 1)), 5)
	require.Equal(t, []string{"standalone"}, forgotten(strings.Replace(makefile, "in . standalone ", "in . ", 1)), "and a program that is forgotten")
}
