package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxPackages bounds the packages of others in a first build. It detects a library with a hundred
// dependencies (docs/decisions/0077-a-lean-server.md).
const maxPackages = 1100

// own begins the packages of this module and its own modules.
const own = "github.com/wakecall/wakecall"

// absent are the packages useless in one process: limits of several gateways, workers and
// archives in clouds.
var absent = []string{
	"github.com/gomodule/redigo", "github.com/redis/", "github.com/envoyproxy/", "github.com/cncf/xds/", "k8s.io/", "sigs.k8s.io/",
	"cloud.google.com/go/run", "cloud.google.com/go/iam", "google.golang.org/api/transport", "github.com/googleapis/",
	"github.com/aws/smithy-go/", "github.com/aws/aws-sdk-go-v2/service/s3/internal", "github.com/aws/aws-sdk-go-v2/service/lambda",
}

// built lists the packages compiled for the package in a directory, with the versions of their
// modules.
func built(t *testing.T, dir string) (packages []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Version}}{{end}}", ".")
	list.Dir = dir
	text, err := list.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// within returns the packages of a list whose path has one of some prefixes.
func within(packages, some []string) (found []string) {
	for _, p := range packages {
		if slices.ContainsFunc(some, func(prefix string) bool { return strings.HasPrefix(p, prefix) }) {
			found = append(found, p)
		}
	}
	return found
}

func TestNothingIsCompiledThatIsNeverCalled(t *testing.T) {
	t.Parallel()
	here := built(t, ".")
	require.Less(t, len(here)-len(within(here, []string{own})), maxPackages)
	require.Empty(t, within(here, absent))
	require.NotEmpty(t, within(built(t, ".."), absent), "the oracle sees Redis, where gateways share their limits")
}

// Both binaries have the same libraries, so that shared ones are compiled once.
func TestBothBinariesShareTheirLibraries(t *testing.T) {
	t.Parallel()
	here, apart := built(t, "."), []string{own, "github.com/gomodule/redigo"}
	beside := built(t, "..")
	for _, p := range beside {
		if len(within([]string{p}, apart)) == 0 {
			require.Contains(t, here, p)
		}
	}
	require.Greater(t, len(beside), 400, "the oracle sees packages")
}
