// Package arch holds the import rules of Wakecall. It has no code.
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

const module = "github.com/wakecall/wakecall/"

// rooms lists the rooms that each room may import. Imports point one way: cmd → api, worker →
// engine → workflows → core, worker → activities → core. Those of internal import the ground
// only. A room that may import "core" may import every room of it except the calendar.
var rooms = map[string][]string{
	"core":                  {},
	"core/calendar":         {},
	"core/wire":             {"core/calendar"},
	"core/recurrence":       {"core/calendar", "core/wire"},
	"core/outcomes":         {"core/wire"},
	"core/slo":              {"core/timer", "core/wire"},
	"core/delivery":         {"core/wire"},
	"core/policy":           {"core/delivery", "core/recurrence", "core/wire"},
	"core/timer":            {"core/calendar", "core/delivery", "core/policy", "core/recurrence", "core/wire"},
	"core/dispatch":         {"core/delivery", "core/policy", "core/recurrence", "core/timer", "core/wire"},
	"core/job":              {"core/delivery", "core/policy", "core/timer", "core/wire"},
	"core/forecast":         {"core/dispatch", "core/policy", "core/timer", "core/wire"},
	"core/model":            {"core/timer"},
	"core/health":           {"core/wire"},
	"core/trail":            {"core/timer", "core/wire"},
	"core/problem":          {"core/dispatch", "core/health", "core/timer", "core/wire"},
	"core/fields":           {"core/delivery", "core/dispatch", "core/policy", "core/recurrence", "core/timer", "core/wire"},
	"workflows":             {"core"},
	"activities":            {"activities/job", "core", "activities/send", "internal/audit", "internal/turns"},
	"activities/job":        {"core", "internal/turns"},
	"activities/dispatch":   {"core", "activities/send", "internal/turns"},
	"engine":                {"core", "engine/alerts", "engine/bookings", "engine/bulk", "engine/canary", "engine/deliveries", "engine/dispatches", "engine/emergencies", "engine/failover", "engine/forecasts", "engine/histories", "engine/jobs", "engine/kernel", "engine/ledger", "engine/namespace", "engine/outcomes", "engine/policies", "engine/processes", "engine/queues", "engine/reconcile", "engine/runs", "engine/stats", "engine/streams", "engine/testrings", "engine/timers", "engine/waits", "internal/seal"},
	"engine/actors":         {"core", "internal/audit", "internal/identity", "workflows"},
	"engine/alerts":         {"core", "engine/kernel", "engine/policies", "internal/errtype", "workflows"},
	"engine/bookings":       {"core", "engine/actors", "engine/holds", "engine/kernel", "engine/policies", "engine/query", "engine/timers", "engine/visibility", "internal/errtype", "internal/identity", "internal/limiter", "internal/quota", "workflows"},
	"engine/bulk":           {"core", "engine/bookings", "engine/jobs", "engine/kernel", "engine/policies", "engine/query", "engine/timers", "engine/visibility", "internal/audit", "internal/errtype", "workflows"},
	"engine/canary":         {"core", "engine/kernel", "engine/query", "internal/stream", "workflows"},
	"engine/deliveries":     {"core", "engine/bookings", "engine/histories", "engine/kernel", "engine/query", "engine/timers", "engine/visibility", "internal/errtype", "internal/seal", "workflows"},
	"engine/dispatches":     {"core", "engine/kernel", "engine/policies", "engine/query", "engine/visibility", "engine/waits", "internal/errtype", "workflows"},
	"engine/emergencies":    {"core", "engine/actors", "engine/kernel", "engine/query", "engine/visibility", "internal/errtype", "workflows"},
	"engine/enginetest":     {"core", "internal/audit", "workflows"},
	"engine/failover":       {"core", "engine/holds", "engine/kernel", "engine/visibility", "internal/errtype", "internal/identity", "workflows"},
	"engine/forecasts":      {"core", "engine/dispatches", "engine/kernel", "engine/policies", "engine/query", "engine/visibility", "internal/questions", "workflows"},
	"engine/ledger":         {"core", "engine/kernel", "internal/errtype", "workflows"},
	"engine/histories":      {"core", "engine/actors", "engine/kernel", "engine/query", "engine/timers", "engine/visibility", "internal/identity", "workflows"},
	"engine/holds":          {"core", "engine/kernel", "internal/errtype", "internal/identity", "workflows"},
	"engine/jobs":           {"core", "engine/kernel", "engine/query", "engine/visibility", "internal/audit", "internal/errtype", "workflows"},
	"engine/kernel":         {"core", "engine/query", "engine/visibility", "internal/errtype", "internal/identity", "internal/questions", "workflows"},
	"engine/namespace":      {"core", "engine/failover", "engine/holds", "engine/kernel", "internal/errtype", "workflows"},
	"engine/outcomes":       {"core", "engine/kernel", "engine/query", "engine/visibility", "internal/questions", "workflows"},
	"engine/policies":       {"core", "engine/kernel", "engine/query", "engine/registry", "engine/visibility", "internal/audit", "internal/errtype", "internal/identity", "internal/seal", "workflows"},
	"engine/processes":      {"core", "engine/failover", "engine/kernel", "internal/errtype"},
	"engine/query":          {"core"},
	"engine/queues":         {"core", "engine/actors", "engine/kernel", "engine/policies", "engine/query", "engine/registry", "engine/visibility", "workflows"},
	"engine/reconcile":      {"core", "engine/bookings", "engine/holds", "engine/kernel", "engine/query", "engine/queues", "engine/timers", "engine/visibility"},
	"engine/registry":       {"core", "engine/kernel", "workflows"},
	"engine/runs":           {"core", "engine/kernel", "internal/identity", "workflows"},
	"engine/stats":          {"core", "engine/kernel", "engine/query", "engine/registry", "engine/visibility", "workflows"},
	"engine/streams":        {"core", "engine/kernel", "internal/processid", "workflows"},
	"engine/testrings":      {"core", "engine/emergencies", "engine/kernel", "engine/policies", "internal/errtype", "workflows"},
	"engine/timers":         {"core", "engine/kernel", "engine/policies", "engine/query", "engine/visibility", "engine/waits", "internal/errtype", "internal/identity", "workflows"},
	"engine/visibility":     {"core", "engine/query", "workflows"},
	"engine/waits":          {"core", "engine/emergencies", "engine/policies", "engine/queues", "internal/identity", "workflows"},
	"worker":                {"activities", "activities/delivery", "activities/dispatch", "core", "workflows"},
	"api":                   {"api/access", "api/answers", "api/calls", "api/deliveries", "api/dispatches", "api/emergencies", "api/forecasts", "api/front", "api/jobs", "api/objectives", "api/operations", "api/outcomes", "api/policies", "api/processes", "api/requests", "api/streams", "api/timers", "api/trails", "core", "engine/kernel", "internal/auth", "internal/netlimit"},
	"api/access":            {"api/calls", "api/paths", "api/requests", "internal/auth"},
	"api/answers":           {"api/audits", "api/calls", "api/paths", "api/problems", "core", "engine/bookings", "engine/policies", "internal/auth"},
	"api/apitest":           {"api/problems", "core"},
	"api/audits":            {"api/paths", "api/problems", "core", "internal/audit", "internal/auth"},
	"api/calls":             {"api/audits", "api/paths", "api/problems", "core", "internal/audit", "internal/auth", "internal/door"},
	"api/contract":          {"api"},
	"api/decode":            {"api/limits", "api/problems", "core"},
	"api/deliveries":        {"api/answers", "api/audits", "api/calls", "api/decode", "api/paths", "api/requests", "core", "engine/bookings", "engine/deliveries", "internal/auth"},
	"api/dispatches":        {"api/answers", "api/audits", "api/calls", "api/decode", "api/limits", "api/paths", "api/problems", "api/requests", "api/unbounded", "core", "engine/dispatches", "internal/auth"},
	"api/emergencies":       {"api/audits", "api/calls", "api/decode", "api/paths", "api/requests", "core"},
	"api/objectives":        {"api/calls", "api/paths", "api/requests", "core", "engine/ledger"},
	"api/forecasts":         {"api/calls", "api/paths", "api/requests", "core", "engine/forecasts"},
	"api/front":             {"api/answers", "api/audits", "api/calls", "api/paths", "api/problems", "core", "internal/audit", "internal/auth", "internal/door"},
	"api/jobs":              {"api/audits", "api/calls", "api/decode", "api/limits", "api/paths", "api/requests", "api/timers", "api/unbounded", "core", "engine/bulk", "engine/jobs", "engine/kernel"},
	"api/limits":            {"core"},
	"api/operations":        {"api/calls", "api/paths", "api/requests", "core", "internal/auth"},
	"api/outcomes":          {"api/calls", "api/paths", "api/requests", "core", "engine/outcomes"},
	"api/paths":             {},
	"api/policies":          {"api/answers", "api/audits", "api/calls", "api/decode", "api/paths", "api/requests", "core", "engine/policies"},
	"api/problems":          {"core"},
	"api/processes":         {"api/calls", "api/paths", "api/requests", "core"},
	"api/requests":          {"api/audits", "api/calls", "api/decode", "api/limits", "api/paths", "api/problems", "core", "engine/kernel"},
	"api/streams":           {"api/answers", "api/calls", "api/decode", "api/limits", "api/paths", "api/problems", "api/requests", "core", "engine/kernel", "engine/streams", "internal/auth", "internal/door", "internal/stream"},
	"api/timers":            {"api/answers", "api/audits", "api/calls", "api/decode", "api/limits", "api/paths", "api/problems", "api/requests", "core", "engine/bookings", "engine/histories", "engine/timers", "internal/audit", "internal/auth"},
	"api/trails":            {"api/calls", "api/limits", "api/paths", "api/requests", "core", "internal/audit"},
	"api/unbounded":         {},
	"console":               {"console/calls", "console/dispatches", "console/forecasts", "console/jobs", "console/links", "console/live", "console/operations", "console/sessions", "console/site", "console/timers", "console/types", "console/watch", "internal/audit", "internal/auth", "internal/door", "internal/oidc", "internal/seal"},
	"console/assets":        {"console/links"},
	"console/calls":         {"console/links", "console/words"},
	"console/chart":         {"console/calls", "console/links", "console/words"},
	"console/cron":          {"console/words"},
	"console/dispatches":    {"console/calls", "console/chart", "console/links", "console/site", "console/types", "console/words", "internal/auth"},
	"console/forecasts":     {"console/calls", "console/links", "console/site", "console/types", "console/words"},
	"console/jobs":          {"console/calls", "console/links", "console/search", "console/site", "internal/auth"},
	"console/links":         {},
	"console/live":          {"internal/questions"},
	"console/operations":    {"console/calls", "console/links", "console/site", "console/watch", "internal/auth"},
	"console/search":        {"console/words"},
	"console/sessions":      {"internal/auth", "internal/door", "internal/oidc", "internal/seal"},
	"console/site":          {"console/assets", "console/calls", "console/links", "console/search", "console/sessions", "console/watch", "console/words", "internal/audit", "internal/auth"},
	"console/timers":        {"console/calls", "console/cron", "console/jobs", "console/links", "console/search", "console/site", "console/types", "console/watch", "console/words", "internal/audit", "internal/auth"},
	"console/types":         {"console/calls", "console/chart", "console/links", "console/search", "console/site", "console/watch", "console/words", "internal/auth"},
	"console/watch":         {"console/calls", "console/links", "console/words", "internal/auth", "internal/questions"},
	"console/words":         {},
	"client":                {"core", "internal/retryafter"},
	"deploy":                {},
	"internal/audit":        {"core", "internal/auth"},
	"internal/auth":         {"core"},
	"internal/build":        {},
	"internal/certs":        {"core"},
	"internal/completion":   {"internal/identity", "internal/limiter"},
	"internal/detector":     {},
	"internal/door":         {},
	"internal/errtype":      {},
	"internal/golden":       {},
	"internal/identity":     {"core"},
	"internal/limiter":      {},
	"internal/netlimit":     {},
	"internal/processid":    {},
	"internal/questions":    {},
	"internal/resend":       {},
	"internal/quota":        {},
	"internal/quota/shared": {"internal/config", "internal/quota"},
	"internal/seal":         {},
	"internal/stream":       {"core"},
	"internal/terminal":     {},
	"internal/config":       {"internal/auth", "internal/certs", "internal/seal", "core"},
	"internal/oidc":         {"internal/auth", "internal/resend"},
	"internal/observe":      {"core", "internal/resend", "internal/terminal"},
	"cmd/roles": {
		"activities", "activities/delivery", "activities/dispatch", "activities/send", "activities/send/amqp", "activities/send/http", "activities/send/stream", "api", "api/dispatches", "api/front", "api/operations", "api/outcomes", "api/streams", "api/timers", "api/trails", "console", "console/site", "console/watch", "engine", "engine/actors", "engine/bookings", "engine/canary", "engine/failover", "engine/holds", "engine/kernel", "engine/ledger", "engine/namespace", "engine/policies", "engine/queues", "engine/testrings", "core", "worker", "internal/audit", "internal/auth", "internal/certs", "internal/completion", "internal/config", "internal/door", "internal/netlimit", "internal/observe", "internal/oidc", "internal/processid", "internal/quota", "internal/seal", "internal/stream", "internal/turns",
	},
	"internal/arch":   {},
	"internal/tuning": {"core"},
	"internal/turns":  {},
	".":               {"cmd/node"},
	"cmd":             {"cmd/program", "cmd/verbs"},
	"cmd/node":        {"cmd", "cmd/program", "cmd/roles", "internal/build", "internal/config", "internal/observe", "internal/quota/shared"},
	"cmd/program":     {"client", "internal/errtype", "internal/terminal"},
	"cmd/verbs":       {"cmd/apply", "cmd/listen", "cmd/program", "client", "core", "internal/auth", "internal/config", "internal/terminal"},
	"cmd/apply":       {"cmd/program", "client"},
	"cmd/listen":      {"cmd/program", "core", "activities/send", "activities/send/http", "client", "internal/terminal"},

	// The rooms under a delivery.
	"activities/delivery":          {"activities/delivery/preload", "activities/delivery/receipts", "activities/send", "core"},
	"activities/delivery/preload":  {"core"},
	"activities/delivery/receipts": {"core"},

	// An identity provider for tests.
	"internal/oidc/oidctest": {},

	// Each transport is one package, imported by cmd/roles only.
	"activities/send":          {"core", "internal/errtype"},
	"activities/send/http":     {"core", "activities/send", "internal/errtype", "internal/retryafter"},
	"activities/send/sendtest": {"core", "activities/send"},
	"activities/send/amqp":     {"core", "activities/send"},
	"activities/send/stream":   {"activities/send", "internal/stream"},
	"internal/rabbit":          {},
	"internal/retryafter":      {},
}

// outside lists the only rooms that may import a library, and the reason.
var outside = map[string]struct {
	rooms  []string
	reason string
}{
	"github.com/labstack/echo/v4":         {[]string{"api/..."}, "nobody else sees HTTP coming in"},
	"github.com/go-resty/resty/v2":        {[]string{"activities/send/http"}, "nobody else calls out by HTTP"},
	"github.com/rabbitmq/amqp091-go":      {[]string{"activities/send/amqp"}, "nobody else speaks AMQP"},
	"github.com/coder/websocket":          {[]string{"api/streams", "client"}, "the two ends of a WebSocket"},
	"github.com/netresearch/go-cron":      {[]string{"core/calendar"}, "one room reads rules"},
	"github.com/gomodule/redigo":          {[]string{"internal/quota/shared"}, "only a node of several shares its limits"},
	"github.com/spf13/cobra":              {[]string{"cmd", "cmd/node", "cmd/program", "cmd/verbs"}, "there is one command line"},
	"github.com/coreos/go-oidc/v3":        {[]string{"internal/oidc"}, "one room knows the identity provider"},
	"golang.org/x/oauth2":                 {[]string{"internal/oidc"}, "one room knows the identity provider"},
	"github.com/go-jose/go-jose/v4":       {[]string{"internal/oidc", "internal/oidc/oidctest"}, "one room reads tokens, and one makes those of tests"},
	"go.temporal.io/sdk/client":           {[]string{"engine/...", "worker", "cmd/roles", "internal/observe"}, "engine is the one adapter; the others only hand the client on"},
	"github.com/prometheus/client_golang": {[]string{"internal/observe", "activities/delivery", "activities/dispatch"}, "a room reports its own metrics, on the registry of observe"},
	"testing":                             {[]string{"internal/detector", "internal/golden", "internal/rabbit", "activities/send/sendtest", "api/apitest", "api/contract", "engine/enginetest", "internal/oidc/oidctest"}, "tests stay out of the binaries"},
	"go.temporal.io/sdk/worker":           {[]string{"worker"}, "one room says what runs where"},
	"go.temporal.io/api/workflowservice":  {[]string{"engine/...", "internal/completion"}, "nobody else speaks to Temporal; the one stands in the connection"},
}

// apart are nested modules and directories without code.
var apart = []string{"standalone", "deploy/helm", "e2e", "bench", "examples", ".git", "bin", "docs"}

type imported struct{ room, path string }

// imports lists the imports of every production file of the root module.
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

// forbidden returns why a file of a room must not import something, or "".
func forbidden(i imported) string {
	if target, ours := strings.CutPrefix(i.path, module); ours && !slices.Contains(rooms[i.room], target) && !tunes(i.room, target) && !stands(i.room, target) {
		return i.room + " must not import " + target
	}
	for library, rule := range outside {
		if within(i.path, library) && !slices.ContainsFunc(rule.rooms, func(pattern string) bool { return matches(pattern, i.room) }) {
			return library + " in " + i.room + ": " + rule.reason
		}
	}
	if ofCore(i.room) && !strings.HasPrefix(i.path, module) {
		if strings.Contains(i.path, ".") && !within(i.path, cronParser) {
			return i.room + " imports the standard library and the cron parser only, and no " + i.path
		}
		if slices.Contains(impure, i.path) {
			return i.room + " does no I/O and draws no lots: " + i.path
		}
	}
	return ""
}

// tunes reports whether a room may use the numbers of internal/tuning: any room but those that
// other programs import.
func tunes(room, target string) bool {
	return target == "internal/tuning" && !ofCore(room) && room != "client"
}

// matches reports whether a pattern names a room: by its path, or by the path of a room above it
// and "/...".
func matches(pattern, room string) bool {
	top, deep := strings.CutSuffix(pattern, "/...")
	return pattern == room || deep && within(room, top)
}

// stands reports whether a room may import a room of the core because it may import the core.
func stands(room, target string) bool {
	return slices.Contains(rooms[room], "core") && ofCore(target) && target != "core/calendar"
}

// ofCore reports whether a room is one of pure rules.
func ofCore(room string) bool { return within(room, "core") }

func within(path, library string) bool {
	return path == library || strings.HasPrefix(path, library+"/")
}

const cronParser = "github.com/netresearch/go-cron"

// impure are the packages of the standard library forbidden in the core.
var impure = []string{"os", "net/http", "math/rand", "math/rand/v2", "log", "log/slog", "crypto/rand", "sync"}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	seen, used := map[string]bool{}, map[string]bool{}
	for _, i := range imports(t) {
		require.Contains(t, rooms, i.room, "the room %s is not on the plan", i.room)
		require.Empty(t, forbidden(i))
		seen[i.room] = true
		for library := range outside {
			used[library] = used[library] || within(i.path, library)
		}
	}
	for room := range rooms {
		require.True(t, seen[room] || room == "internal/arch" || room == "core", "the plan names %s, which is gone", room)
	}
	for library := range outside {
		require.True(t, used[library], "nobody imports %s any more", library)
	}
}

// The control: each kind of side door is seen.
func TestSideDoorsAreSeen(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]imported{
		"core/calendar must not import core/timer":    {"core/calendar", module + "core/timer"},
		"core/policy must not import core/timer":      {"core/policy", module + "core/timer"},
		"core/timer must not import workflows":        {"core/timer", module + "workflows"},
		"api must not import core/calendar":           {"api", module + "core/calendar"},
		"internal/seal must not import core/wire":     {"internal/seal", module + "core/wire"},
		"client must not import internal/tuning":      {"client", module + "internal/tuning"},
		"workflows must not import activities":        {"workflows", module + "activities"},
		"go-cron in core/timer: one room reads rules": {"core/timer", cronParser},
		"echo/v4 in engine: nobody else":              {"engine", "github.com/labstack/echo/v4/middleware"},
		"resty/v2 in worker: nobody else":             {"worker", "github.com/go-resty/resty/v2"},
		"core/timer imports the standard library":     {"core/timer", "github.com/google/uuid"},
		"calendar imports the standard library":       {"core/calendar", "golang.org/x/time/rate"},
		"core/timer does no I/O and draws no lots":    {"core/timer", "math/rand/v2"},
		"calendar does no I/O and draws no lots: os":  {"core/calendar", "os"},
	} {
		require.Contains(t, forbidden(i), want)
	}
	for _, i := range []imported{{"core/timer", module + "core/calendar"}, {"core/calendar", cronParser}, {"core/calendar", "time/tzdata"}, {"api", module + "core/policy"}, {"api", module + "internal/tuning"}} {
		require.Empty(t, forbidden(i))
	}
	require.True(t, matches("engine/...", "engine") && matches("engine/...", "engine/query") && matches("api", "api"))
	require.False(t, matches("engine/...", "engineer") || matches("api", "api/x"))
}
