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

// picture is what the README shows. Its second half says who may import whom.
var picture = filepath.Join("..", "..", "docs", "architecture.svg")

var (
	drawnArrow = regexp.MustCompile(`data-imports="([^"]+)"`)
	drawnRoom  = regexp.MustCompile(`data-room="([^"]+)"`)
)

// ground is the room that every other one stands on: its arrows are not drawn.
const ground = "core"

// drawnAs is the room of the picture that a package is drawn as; "" for one that is not:
// those of internal/ know no room but the ground.
func drawnAs(room string) string {
	top, _, _ := strings.Cut(room, "/")
	switch {
	case room == ".":
		return "cmd" // main.go only calls it
	case top == "internal", top == "deploy":
		return ""
	default:
		return top
	}
}

// arrowsOf are the arrows, sorted, that a list of imports makes in the picture.
func arrowsOf(all []imported) (arrows []string) {
	for _, i := range all {
		target, ours := strings.CutPrefix(i.path, module)
		from, to := drawnAs(i.room), drawnAs(target)
		if ours && from != "" && to != "" && from != to && to != ground {
			arrows = append(arrows, from+" "+to)
		}
	}
	slices.Sort(arrows)
	return slices.Compact(arrows)
}

func allMatches(pattern *regexp.Regexp, text string) (found []string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	slices.Sort(found)
	return found
}

func TestThePictureIsOfTheCode(t *testing.T) {
	t.Parallel()
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	all := imports(t)
	require.Equal(t, arrowsOf(all), allMatches(drawnArrow, string(svg)))
	var rooms []string
	for _, i := range all {
		if room := drawnAs(i.room); room != "" {
			rooms = append(rooms, room)
		}
	}
	slices.Sort(rooms)
	require.Equal(t, slices.Compact(rooms), allMatches(drawnRoom, string(svg)))
}

// The parts that are not drawn know no room but the ground.
func TestWhatIsNotDrawnStandsOnTheGround(t *testing.T) {
	t.Parallel()
	for _, i := range imports(t) {
		if target, ours := strings.CutPrefix(i.path, module); ours && drawnAs(i.room) == "" && drawnAs(target) != "" {
			require.Equal(t, ground, drawnAs(target), "%s imports %s", i.room, target)
		}
	}
}

func TestArrowsAreSeen(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"api engine", "cmd worker"}, arrowsOf([]imported{
		{"cmd/roles", module + "worker"}, {".", module + "cmd"}, {"internal/seal", module + "worker"},
		{"api", module + "engine"}, {"api", module + "engine/query"}, {"api", module + "core/policy"}, {"api", "net/http"},
	}))
}
