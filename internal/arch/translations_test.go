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

const chinese = ".zh-CN.md"

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	indented = regexp.MustCompile(`(?m)^    .*$`)
	heading  = regexp.MustCompile(`(?m)^(#+) (.*)$`)
	codeSpan = regexp.MustCompile("`[^`]+`")
	anchored = regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	linked   = regexp.MustCompile(`\]\(([^)]+)\)`)
)

// skeleton is the common part of a page and its translation.
type skeleton struct {
	Levels []string // of the headings
	Code   []string // blocks of code, fenced and indented
	Rows   []string // the code in the first cell of each row of a table
}

func skeletonOf(page string) (s skeleton) {
	prose := fenced.ReplaceAllString(page, "")
	s.Code = append(fenced.FindAllString(page, -1), indented.FindAllString(prose, -1)...)
	for _, match := range heading.FindAllStringSubmatch(prose, -1) {
		s.Levels = append(s.Levels, match[1])
	}
	for _, row := range tableRow.FindAllString(prose, -1) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		s.Rows = append(s.Rows, strings.Join(codeSpan.FindAllString(first, -1), " "))
	}
	return s
}

// lacking returns the code and the links of each section that the same section of a translation
// does not have: it leaves out a sentence, or is out of date.
func lacking(page, translation string) (missing []string) {
	theirs := sectionsOf(translation)
	for i, section := range sectionsOf(page) {
		for _, said := range section {
			if i >= len(theirs) || !slices.Contains(theirs[i], said) {
				missing = append(missing, said)
			}
		}
	}
	return missing
}

// sectionsOf returns the code and the links in the prose of each section of a page. A translated page
// counts as its original, without the heading, whose words differ.
func sectionsOf(page string) (sections [][]string) {
	for _, text := range heading.Split(fenced.ReplaceAllString(page, ""), -1) {
		said := codeSpan.FindAllString(strings.Join(strings.Fields(text), " "), -1)
		for _, match := range linked.FindAllStringSubmatch(text, -1) {
			to, part, _ := strings.Cut(match[1], "#")
			if original := strings.Replace(to, chinese, ".md", 1); original != to || to == "" || isTranslated(original) {
				said = append(said, original)
				continue
			}
			said = append(said, to+"#"+part)
		}
		sections = append(sections, said)
	}
	return sections
}

// isTranslated reports whether a page that a link names has a translation.
func isTranslated(page string) bool {
	return slices.Contains([]string{"README.md", "api.md", "tutorial.md", "policies.md"}, filepath.Base(page))
}

// A Chinese page shows the same commands, fields, calls and links, in the same places.
func TestTranslationsFollowTheirPages(t *testing.T) {
	t.Parallel()
	all, checked := pages(t), 0
	for name, text := range all {
		original, is := strings.CutSuffix(name, chinese)
		if !is {
			continue
		}
		original += ".md"
		require.Contains(t, all, original)
		require.Equal(t, skeletonOf(all[original]), skeletonOf(text), "%s follows %s", name, original)
		require.Empty(t, lacking(all[original], text), name)
		require.Contains(t, all[original], "[简体中文]("+filepath.Base(name)+")")
		require.Contains(t, text, "[English]("+filepath.Base(original)+")")
		checked++
	}
	require.Equal(t, 4, checked, "the README, the API, the tutorial and the policies")

	one := "# A\n\n```sh\ncurl a\n```\n\n    make run\n\n| `a` | b `c` |\n|---|---|\n"
	for _, other := range []string{"## A", "curl b", "make test", "`d`"} {
		spoilt := strings.NewReplacer("# A", other, "curl a", other, "make run", other, "`a`", other)
		require.NotEqual(t, skeletonOf(one), skeletonOf(spoilt.Replace(one)), "the oracle sees %s", other)
	}
	require.Equal(t, skeletonOf(one), skeletonOf(strings.NewReplacer("# A", "# 甲", "b `c`", "乙").Replace(one)))
	require.Equal(t, []string{"`e f`", "g.md#h"}, lacking("a `b`\n# C\n[d](api.md#x) `e\nf` [g](g.md#h)\n", "`b` 甲\n# 丙\n[丁](api.zh-CN.md#戊)\n## `e f`\n"),
		"the oracle sees what a section lacks")
}

// A link to a part of a page leads to a heading of it.
func TestLinksLeadToHeadings(t *testing.T) {
	t.Parallel()
	checked, translated := 0, 0
	for name, text := range pages(t) {
		for _, match := range anchored.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			page := name
			if match[1] != "" {
				page = filepath.Join(filepath.Dir(name), match[1])
			}
			if !strings.HasSuffix(page, ".md") {
				continue
			}
			target, err := os.ReadFile(page)
			require.NoError(t, err)
			require.True(t, slices.Contains(anchorsOf(string(target)), match[2]), "%s links to %s#%s", name, page, match[2])
			checked++
			if strings.HasSuffix(page, chinese) {
				translated++
			}
		}
	}
	require.Greater(t, checked, 50, "the oracle sees links")
	require.Greater(t, translated, 5, "the oracle sees links into translations")
	require.Equal(t, []string{"id-的重用", "who-calls"}, anchorsOf("## id 的重用\n\n### `Who` calls?\n"))
}

// anchorsOf returns the anchors of a page's headings.
func anchorsOf(page string) (anchors []string) {
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(unlinked.ReplaceAllString(match[2], "")), " ", "-"))
	}
	return anchors
}
