package arch

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture is the picture in the README. Its second half shows the allowed imports.
var picture = filepath.Join("..", "..", "docs", "architecture.svg")

var (
	drawnArrow = regexp.MustCompile(`data-imports="([^"]+)"`)
	drawnRoom  = regexp.MustCompile(`data-room="([^"]+)"`)
)

// ground is the room that all others import: its arrows are not drawn.
const ground = "core"

// drawnAs returns the room of the picture for a package; "" for one that is not drawn: those of
// internal/ import only the ground.
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

// arrowsOf returns the sorted arrows for a list of imports.
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

// undrawn are prefixes of paths of the API that are not in the picture, with the reason.
var undrawn = map[string]string{
	"deliveries": "an answer to a callback", "emergency": "a pause of policies", "forecast": "drawn in the engine", "slo": "a report of the engine", "outcomes": "a report of the engine", "audit": "who did what", "processes": "a report of the engine",
	"keys": "who calls", "recurrences": "a preview", "stats": "lists", "whoami": "who calls",
}

// spelt are the transports with another spelling in the picture.
var spelt = map[string]string{"http": "HTTP", "amqp": "RabbitMQ"}

var apiPart = regexp.MustCompile(`(?m)^  /v1/([a-z]+)`)

// missingParts returns the roles, nouns of the API and transports that the picture lacks.
func missingParts(svg, openapi string, transports []string) (missing []string) {
	wanted := append([]string{"wakecall serve", "wakecall api", "wakecall worker"}, slices.Compact(allMatches(apiPart, openapi))...)
	for _, transport := range transports {
		wanted = append(wanted, cmp.Or(spelt[transport], transport))
	}
	for _, part := range wanted {
		if undrawn[part] == "" && !regexp.MustCompile(`[> ]`+part+`\b`).MatchString(svg) {
			missing = append(missing, part)
		}
	}
	return missing
}

// The picture shows every present part: each role, noun of the API and transport.
func TestThePictureHasEveryPart(t *testing.T) {
	t.Parallel()
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	openapi, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	require.NoError(t, err)
	entries, err := os.ReadDir(filepath.Join("..", "..", "activities", "send"))
	require.NoError(t, err)
	var transports []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != "sendtest" {
			transports = append(transports, entry.Name())
		}
	}
	require.Greater(t, len(transports), 2, "the oracle sees transports")
	require.Empty(t, missingParts(string(svg), string(openapi), transports))

	require.Equal(t, []string{"wakecall worker", "alarms", "carrier"},
		missingParts("<text>wakecall serve: x</text> wakecall api", "  /v1/alarms:\n  /v1/alarms/{id}:\n", []string{"carrier"}))
}

// The parts that are not drawn import only the ground.
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
