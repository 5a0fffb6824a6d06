// Package arch holds the import rules of the house. It has no code of its own.
package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const house = "github.com/wakecall/wakecall/"

// rooms says which rooms each room may import. Imports point one way:
// main → api, worker → engine → workflows → timer, worker → activities → timer.
var rooms = map[string][]string{
	"timer":               {},
	"workflows":           {"timer"},
	"activities":          {"timer"},
	"engine":              {"timer", "workflows", "internal/limiter", "internal/quota", "internal/seal"},
	"worker":              {"activities", "timer", "workflows"},
	"api":                 {"timer", "engine"},
	"client":              {"timer"},
	"deploy":              {},
	"internal/apply":      {"client", "internal/config"},
	"internal/build":      {},
	"internal/completion": {"internal/limiter"},
	"internal/limiter":    {},
	"internal/quota":      {},
	"internal/seal":       {},
	"internal/config":     {"internal/seal"},
	"internal/observe":    {"timer"},
	"internal/role": {
		"activities", "api", "engine", "worker", "internal/completion", "internal/config", "internal/observe", "internal/quota", "internal/seal",
	},
	"internal/arch": {},
	".":             {"internal/apply", "internal/build", "internal/config", "internal/observe", "internal/role"},
}

// outside says which rooms alone may import a library, and why.
var outside = map[string]struct {
	rooms  []string
	reason string
}{
	"github.com/labstack/echo/v4":        {[]string{"api"}, "nobody else sees HTTP coming in"},
	"github.com/go-resty/resty/v2":       {[]string{"activities"}, "nobody else leaves the house"},
	"github.com/netresearch/go-cron":     {[]string{"timer"}, "one room reads rules"},
	"go.temporal.io/sdk/client":          {[]string{"engine", "worker", "internal/role", "internal/observe"}, "engine is the one adapter; the others only hand the client on"},
	"go.temporal.io/sdk/worker":          {[]string{"worker"}, "one room says what runs where"},
	"go.temporal.io/api/workflowservice": {[]string{"engine", "internal/completion"}, "nobody else speaks to Temporal; the one stands in the connection"},
}

// apart are nested modules and what is no code.
var apart = []string{"standalone", "e2e", "bench", "examples", ".git", "bin", "docs"}

type imported struct{ room, path string }

// imports lists what every production file of the root module imports.
func imports(t *testing.T) (all []imported) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if entry.IsDir() && slices.Contains(apart, name) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			target, _ := strconv.Unquote(spec.Path.Value)
			all = append(all, imported{filepath.ToSlash(filepath.Dir(name)), target})
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, i := range imports(t) {
		allowed, known := rooms[i.room]
		require.True(t, known, "the room %s is not on the plan", i.room)
		seen[i.room] = true
		if target, ours := strings.CutPrefix(i.path, house); ours {
			require.Contains(t, allowed, target, "%s must not import %s", i.room, target)
		}
	}
	for room := range rooms {
		require.True(t, seen[room] || room == "internal/arch", "the plan names %s, which is gone", room)
	}
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, i := range imports(t) {
		for library, rule := range outside {
			if i.path == library || strings.HasPrefix(i.path, library+"/") {
				require.Contains(t, rule.rooms, i.room, "%s in %s: %s", library, i.room, rule.reason)
				used[library] = true
			}
		}
	}
	require.Len(t, used, len(outside), "the oracle sees the libraries where they belong")
}

func TestTheCoreIsPure(t *testing.T) {
	t.Parallel()
	for _, i := range imports(t) {
		if i.room != "timer" {
			continue
		}
		if i.path != "github.com/netresearch/go-cron" {
			require.NotContains(t, i.path, ".", "timer imports the standard library and the cron parser only")
		}
		for _, impure := range []string{"os", "net/http", "math/rand", "math/rand/v2", "log", "log/slog", "crypto/rand", "sync"} {
			require.NotEqual(t, impure, i.path, "timer does no I/O and draws no lots")
		}
	}
}
