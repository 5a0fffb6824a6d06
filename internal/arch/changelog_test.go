package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	changelogHead    = regexp.MustCompile(`(?m)^(##+) (.*)$`)
	changelogVersion = regexp.MustCompile(`^\[\d+\.\d+\.\d+\] - (?:unreleased|20\d\d-[01]\d-[0-3]\d)$`)
	changelogKind    = regexp.MustCompile(`^(?:Added|Changed|Deprecated|Removed|Fixed|Security)$`)
)

// faultsOfChangelog returns the headings unknown to Keep a Changelog, and the missing parts.
func faultsOfChangelog(text string) (faults []string) {
	versions := []string{}
	for _, head := range changelogHead.FindAllStringSubmatch(text, -1) {
		switch {
		case head[1] == "##" && (head[2] == "[Unreleased]" || changelogVersion.MatchString(head[2])):
			versions = append(versions, head[2])
		case head[1] == "###" && changelogKind.MatchString(head[2]):
		default:
			faults = append(faults, head[0])
		}
	}
	if len(versions) == 0 || versions[0] != "[Unreleased]" {
		faults = append(faults, "no [Unreleased] on top")
	}
	if len(versions) == 0 || !strings.HasPrefix(versions[len(versions)-1], "[1.0.0] ") {
		faults = append(faults, "it does not begin with 1.0.0")
	}
	return faults
}

// The changelog has the form of Keep a Changelog. Nothing was released before 1.0.0.
func TestTheChangelogHasItsForm(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	require.NoError(t, err)
	require.Empty(t, faultsOfChangelog(string(text)))

	good := "## [Unreleased]\n\n### Fixed\n\n## [1.0.1] - 2027-01-31\n\n## [1.0.0] - unreleased\n"
	require.Empty(t, faultsOfChangelog(good))
	require.Equal(t, []string{"### Behaviours"}, faultsOfChangelog(strings.Replace(good, "Fixed", "Behaviours", 1)))
	require.Equal(t, []string{"## [1.0.1]"}, faultsOfChangelog(strings.Replace(good, " - 2027-01-31", "", 1)))
	require.Len(t, faultsOfChangelog("## [0.9.0] - 2026-01-01\n"), 2)
}
