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

// A Chinese page shows the same commands, fields and calls, in the same places.
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
