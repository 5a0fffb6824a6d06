package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// WakecallBinary is the path of the production binary.
func WakecallBinary(t testing.TB) string { return ours(t, wakecall) }

// EarlierBinary is the path of a production binary of an earlier version, from 1.0.0 on. The
// environment must name it; without it the test is skipped.
func EarlierBinary(t testing.TB) string {
	path := os.Getenv("WAKECALL_EARLIER_BIN")
	if path == "" {
		t.Skip("WAKECALL_EARLIER_BIN names no earlier version")
	}
	return path
}

// StandaloneBinary is the path of the standalone binary.
func StandaloneBinary(t testing.TB) string { return ours(t, standalone) }

// Temporal is the path of the temporal CLI.
func Temporal(t testing.TB) string { return built(t, temporalCLI) }

// Peers is the path of the command that runs systems to compare with.
func Peers(t testing.TB) string { return ours(t, peers) }

// Tctl is the path of Temporal's older CLI.
func Tctl(t testing.TB) string { return built(t, tctl) }

// Crane is the path of crane, which asks registries for digests.
func Crane(t testing.TB) string { return built(t, crane) }

// TemporalServer is the path of Temporal's own server.
func TemporalServer(t testing.TB) string { return built(t, temporalServer) }

// TemporalBeside is the path of the Temporal that tests under the race detector run on.
func TemporalBeside() (string, error) { return temporalBeside() }

// SQLTool is the path of temporal-sql-tool.
func SQLTool(t testing.TB) string { return built(t, sqlTool) }

var (
	wakecall    = program("WAKECALL_BIN", "wakecall", asShipped(".", "."))
	standalone  = program("WAKECALL_STANDALONE_BIN", "wakecall-standalone", asShipped("standalone", "."))
	temporalCLI = program("TEMPORAL_CLI", "temporal", install("github.com/temporalio/cli/cmd/temporal@v1.5.1"))
	crane       = program("CRANE", "crane", install("github.com/google/go-containerregistry/cmd/crane@v0.22.1"))
	peers       = program("WAKECALL_BENCH_PEERS", "wakecall-bench-peers", from("bench/peers", "."))
	tctl        = program("TCTL", "tctl", from("e2e/tools/tctl", "github.com/temporalio/tctl/cmd/tctl"))

	temporalServer = program("TEMPORAL_SERVER", "temporal-server", asShipped("e2e", "go.temporal.io/server/cmd/server"))
	temporalBeside = program("TEMPORAL_BESIDE", "temporal-beside", asShipped("e2e", "./temporal/beside"))
	sqlTool        = program("TEMPORAL_SQL_TOOL", "temporal-sql-tool", asShipped("e2e", "go.temporal.io/server/cmd/tools/sql"))
)

// ours is the path of a program of this checkout. Go keeps the result of a test for as long as
// the variables that it read are the same, and this one changes with what the programs are
// compiled from.
func ours(t testing.TB, program func() (string, error)) string {
	t.Helper()
	_ = os.Getenv("WAKECALL_COMPILED")
	return built(t, program)
}

func built(t testing.TB, program func() (string, error)) string {
	t.Helper()
	path, err := program()
	require.NoError(t, err)
	return path
}

// program returns a function that builds a program at its first call, unless the environment
// names one.
func program(variable, name string, recipe recipe) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		if path := os.Getenv(variable); path != "" {
			return filepath.Abs(path)
		}
		path := filepath.Join(binaries(), name)
		if output, err := recipe(path).CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", name, err, output)
		}
		return path, nil
	})
}

// recipe is the command that builds a program at a path.
type recipe func(path string) *exec.Cmd

// from builds a package as the module in a directory of the checkout sees it.
func from(dir, pkg string) recipe {
	return func(path string) *exec.Cmd {
		command := exec.Command("go", "build", "-o", path, pkg)
		command.Dir = filepath.Join(checkout(), dir)
		return command
	}
}

// asShipped builds a program with the flags of the shipped ones: shared packages are
// compiled once.
func asShipped(dir, pkg string) recipe {
	return func(path string) *exec.Cmd {
		profile := filepath.Join(checkout(), "standalone", "profile.pgo")
		command := exec.Command("go", "build", "-trimpath", "-pgo="+profile, "-o", path, pkg)
		command.Dir, command.Env = filepath.Join(checkout(), dir), append(os.Environ(), "CGO_ENABLED=0")
		return command
	}
}

// install builds a package of a module without other modules of ours.
func install(pkg string) recipe {
	return func(path string) *exec.Cmd {
		command := exec.Command("go", "install", pkg)
		command.Env = append(os.Environ(), "GOBIN="+filepath.Dir(path))
		return command
	}
}

// binaries is a directory that git ignores. It is kept, so that the next run finds
// everything up to date.
func binaries() string { return filepath.Join(checkout(), "bin", "e2e") }

// checkout is the directory of the product's own module, above that of the tests.
var checkout = sync.OnceValue(func() string {
	dir, _ := os.Getwd()
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "standalone", "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
})
