package arch

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Claims of a page about the repository that can be checked: tests, files, settings and calls.

var (
	namedTest    = regexp.MustCompile("`(?:make )?((?:Test|Benchmark)[A-Z]\\w+)`")
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)[A-Z]\w+)\(`)
	namedPath    = regexp.MustCompile("`([a-z]+/[\\w./-]+)`")
	namedSetting = regexp.MustCompile(`\b(WAKECALL_[A-Z_]*[A-Z])\b`)
	namedCall    = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE) (/v1/[\w/{}.:-]*)`)
)

// missingFrom returns, sorted, the first groups of a pattern in a text that are unknown.
func missingFrom(text string, pattern *regexp.Regexp, known func(name string) bool) (missing []string, seen int) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(strings.Join(match[1:], " "))
		if !known(name) {
			missing = append(missing, name)
		}
		seen++
	}
	slices.Sort(missing)
	return missing, seen
}

// requireKnown requires that every page names only known things, at least so many times in all.
func requireKnown(t *testing.T, pattern *regexp.Regexp, known func(name string) bool, least int) {
	t.Helper()
	total := 0
	for page, text := range pages(t) {
		missing, seen := missingFrom(text, pattern, known)
		require.Empty(t, missing, page)
		total += seen
	}
	require.Greater(t, total, least, "the oracle sees names")
}

func TestPagesNameTestsAndBenchmarksThatExist(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for path, text := range everySource(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, match := range declaredTest.FindAllStringSubmatch(text, -1) {
				declared[match[1]] = true
			}
		}
	}
	known := func(name string) bool { return declared[name] }
	requireKnown(t, namedTest, known, 10)
	missing, _ := missingFrom("`TestThatNobodyWrote` and `TestImportsPointOneWay`", namedTest, known)
	require.Equal(t, []string{"TestThatNobodyWrote"}, missing, "the oracle sees what is missing")
}

// elsewhere are prefixes of paths outside the repository, with the reason.
var elsewhere = map[string]string{
	"api/updateworkflow": "of Temporal's server", "common/failure.Truncate": "of Temporal's server", "service/history": "of Temporal's server",
	"application/": "a media type", "text/": "a media type", "golang/": "a project",
	"backups/": "made by make backup", "secrets/": "made by make up", "data/": "made by a run", "bin/": "made by make build",
	"deploy/tls/": "yours to fill", "deploy/ca/": "yours to fill", "internal/common/retry": "of Temporal's SDK",
	"encoding/json": "Go's", "crypto/x509": "Go's", "net/http": "Go's", "robfig/cron": "a library", "hashicorp/cronexpr": "a library",
	"adhocore/gronx": "a library", "netresearch/go-cron": "a library", "coder/websocket": "a library",
}

func TestPagesNameFilesThatExist(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	require.NoError(t, err)
	ours := map[string]bool{}
	for _, entry := range entries {
		ours[entry.Name()] = entry.IsDir()
	}
	known := func(name string) bool {
		top, _, _ := strings.Cut(name, "/")
		for begin := range elsewhere {
			if strings.HasPrefix(name, begin) {
				return true
			}
		}
		if !ours[top] {
			return true // a workflow id, a subject of the benchmark, a header
		}
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name)))
		return err == nil
	}
	requireKnown(t, namedPath, known, 30)
	missing, _ := missingFrom("`deploy/nothing.sh`, `wakecall/sqlite`, `deploy/env.sh`", namedPath, known)
	require.Equal(t, []string{"deploy/nothing.sh"}, missing, "the oracle sees what is missing")
}

// The Makefile or a test reads every setting of tests and of the build.
func TestPagesNameSettingsThatAreRead(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for path, text := range everySource(t) {
		if filepath.Ext(path) != ".md" && !strings.HasSuffix(path, "claims_test.go") {
			for _, match := range namedSetting.FindAllStringSubmatch(text, -1) {
				read[match[1]] = true
			}
		}
	}
	known := func(name string) bool {
		return read[name] || read[strings.TrimSuffix(name, "_FILE")] || slices.ContainsFunc(slices.Collect(maps.Keys(read)), func(one string) bool { return strings.HasPrefix(one, name+"_") })
	}
	requireKnown(t, namedSetting, known, 100)
	missing, _ := missingFrom("WAKECALL_COLOUR_OF_SKY, WAKECALL_LOG_LEVEL", namedSetting, known)
	require.Equal(t, []string{"WAKECALL_COLOUR_OF_SKY"}, missing, "the oracle sees what is missing")
}

// Each call on a page is an operation of the API, with any values of its parameters.
func TestPagesNameCallsOfTheAPI(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	require.NoError(t, err)
	operations := operationsOf(string(document))
	known := func(call string) bool {
		method, path, _ := strings.Cut(strings.TrimRight(call, "./:"), " ")
		return slices.ContainsFunc(operations, func(o [2]string) bool {
			form := regexp.MustCompile("^" + parameter.ReplaceAllString(o[1], `[^/]+`) + "$")
			return o[0] == method && form.MatchString(path)
		})
	}
	requireKnown(t, namedCall, known, 60)
	missing, _ := missingFrom("`GET /v1/timers/a/b`, `PATCH /v1/timers`, `GET /v1/alarms`", namedCall, known)
	require.Equal(t, []string{"GET /v1/alarms", "PATCH /v1/timers"}, missing, "the oracle sees what is missing")
}

// operationsOf lists the method and the path of each operation of an OpenAPI document.
func operationsOf(document string) (operations [][2]string) {
	path := ""
	method := regexp.MustCompile(`^    (get|post|put|patch|delete):$`)
	for line := range strings.SplitSeq(document, "\n") {
		if match := apiPath.FindStringSubmatch(line); match != nil {
			path = match[1]
		}
		if match := method.FindStringSubmatch(line); match != nil {
			operations = append(operations, [2]string{strings.ToUpper(match[1]), path})
		}
	}
	return operations
}
