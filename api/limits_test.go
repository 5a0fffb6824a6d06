package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// rows maps each row of docs/limits.md to the numbers of its middle column, in their
// order. A number that stands here as one has no constant.
var rows = map[string][]any{
	"business type":          {1, wire.MaxBusinessTypeLen},
	"reuse of a business id": {retention},
	"business id":            {1, wire.MaxBusinessIDLen},
	"labels of a timer":      {timer.MaxLabels, timer.MaxLabelKey, timer.MaxLabelValue},
	"payload":                {timer.MaxPayload, timer.MaxContentTypeLen},
	"body of one timer":      {limits.MaxBody},
	"batch":                  {limits.MaxBatch, limits.MaxBatchBody},
	"due time":               {timer.MaxPast, wire.MaxAhead},

	"local due time (`due_local`)": {},
	"`max_wait`":                   {time.Millisecond, wire.MaxAhead},
	"attempt timeout":              {delivery.DefaultAttemptTimeout, delivery.MinAttemptTimeout, delivery.MaxAttemptTimeout},
	"ladder":                       {delivery.MaxAttempts, time.Millisecond, delivery.MaxRetryStep, 1, delivery.MaxMultiplier},
	"`Retry-After`":                {delivery.MaxRetryAfter, time.Duration(0), delivery.MaxRetryAfter},
	"`priority`":                   {policy.DefaultPriority, policy.MinPriority, policy.MaxPriority},
	"recurrence":                   {recurrence.MaxCrons, recurrence.MaxCronLen, recurrence.MaxMoments, recurrence.MaxExcludes, recurrence.MinInterval, wire.MaxAhead, recurrence.MaxOccurrences},
	"extra rings of a recurring timer that wait": {timer.MaxExtras},
	"missed occurrences made up for":             {recurrence.MaxMadeUp},
	"upcoming occurrences listed":                {recurrence.DefaultUpcoming, recurrence.MaxUpcoming, recurrence.MaxUpcomingSteps},
	"callback URL":                               {delivery.MaxURLLen},
	"exchange, routing key, queue of a broker":   {delivery.MaxShortString},
	"nesting of a timer or policy":               {wire.MaxNesting},
	"arrays and maps of a body":                  {limits.MaxElements, limits.MaxMembers},
	"field errors that an answer names":          {wire.MaxFieldErrors, limits.MaxBatchFieldErrors, wire.MaxPointer, wire.MaxFieldErrorDetail},
	"callback headers":                           {delivery.MaxHeaders, delivery.MaxHeaderName, delivery.MaxHeaderValue},
	"`tls` of a policy":                          {policy.MaxPEM},
	"signing secrets":                            {policy.MaxSecrets, policy.MinSecretBytes, policy.MaxSecretBytes},

	"secrets that sign at once, replaced ones included": {policy.MaxSigners},
	"overlap of a replaced secret":                      {policy.DefaultSecretOverlap, policy.MaxSecretOverlap},
	"`adds_per_second`, `callbacks_per_second`":         {0, policy.MinRate, policy.MaxRate},
	"`adds_burst`": {1, policy.MaxRate},
	"`in_flight`":  {policy.DefaultInFlight, 1, policy.MaxInFlight, tuning.DispatchInFlight},
	"`pending`":    {0, policy.MaxPending},
	"`on_time`":    {policy.DefaultOnTime, policy.MinOnTime, policy.MaxOnTime},
	"`preload`":    {policy.DefaultPreload, time.Duration(0), policy.MinPreload, policy.MaxPreload},

	"`fallback.after`": {delivery.DefaultFallbackAfter, delivery.MinFallbackAfter, delivery.MaxFallbackAfter},
	"`expires_after`":  {time.Millisecond, wire.MaxAhead},
	"emergency":        {policy.MaxEmergencyTypes, wire.MaxNote},
	"bulk job":         {job.DefaultRate, job.MinRate, job.MaxRate, job.MaxID},
	"time to acknowledge later (`ack.within`)": {delivery.MinAckWithin, delivery.MaxAckWithin, delivery.MaxAckReason, delivery.MaxRetryStep},
	"outcomes": {outcomes.DefaultPast, outcomes.MinStep, outcomes.Kept, outcomes.Kept, tuning.OutcomesTypes},
	"redelivered timers that are counted exactly": {tuning.StatsListed},
	"forecast":           {forecast.DefaultRange, forecast.DefaultStep, forecast.MaxSteps, forecast.MinStep, forecast.MaxStep, tuning.ForecastKept, tuning.ForecastTypes, tuning.ForecastOccurrencesEach, tuning.ForecastOccurrences},
	"record of attempts": {delivery.MaxAnswer, delivery.MaxAnswers},
	"rate of a dispatch": {dispatch.MinRate, dispatch.MaxRate, dispatch.MaxWarmUp},
	"changes of a dispatch (rate, pause, resume)":   {tuning.ChangeableHistory, http.StatusConflict},
	"items of a dispatch":                           {dispatch.MaxInlineItems, dispatch.MaxInlineBytes, limits.MaxDispatchBody, limits.MaxItemLine, dispatch.MaxLife},
	"payload of an item":                            {dispatch.MaxItem},
	"items of one callback":                         {dispatch.DefaultPage, dispatch.MaxPage, dispatch.MaxPageAnswer},
	"loader":                                        {1, dispatch.MaxShards, dispatch.DefaultPage, dispatch.MaxPage, dispatch.MaxLoaderAnswer, dispatch.MaxCursor},
	"lines that an upload's refusal names":          {wire.MaxFieldErrors},
	"upload that is not completed":                  {tuning.DispatchUploadLife},
	"response":                                      {delivery.MaxResponseRead, tuning.ReceiverHeaderBytes, wire.MaxFailureMessage},
	"bookings under way at once":                    {tuning.LeastBookings, tuning.MaxConcurrency, http.StatusServiceUnavailable, tuning.LongestQueue},
	"wait for an effect (`wait=`)":                  {kernel.DefaultWait, kernel.MaxWait},
	"receivers connected to one gateway":            {tuning.StreamConnectionsPerType, tuning.StreamConnections, limits.DefaultWindow, 1, limits.MaxWindow, limits.MaxStreamAnswer},
	"page of a list":                                {limits.DefaultPageSize, limits.MaxPageSize, limits.DefaultJobs, limits.MaxJobs},
	"page of a timer's attempts":                    {limits.DefaultRuns, limits.MaxRuns},
	"page of a timer's history":                     {limits.DefaultRuns, limits.MaxRuns},
	"`Idempotency-Key`":                             {1, limits.MaxIdempotencyKey},
	"bookings of one id among which a key is found": {timer.MaxEarlierKeys, tuning.KeyPages * tuning.MaxListed},
	"refused changes shown":                         {timer.MaxRefusals, timer.MaxRefusalBytes},
}

// retention is set where Temporal is: WAKECALL_RETENTION, and RETENTION of the compose file.
const retention = 720 * time.Hour

// unlisted are constants of the contract that no row names, and why.
var unlisted = map[string]string{
	"MissedGrace":       "docs/recurring.md, the rule skip",
	"WebSocketKeyBytes": "of RFC 6455",
	"itemSlack":         "part of MaxItemLine",
}

var (
	code   = regexp.MustCompile("`[^`]*`")
	number = regexp.MustCompile(`\d+(?:,\d{3})*(?:\.\d+)?(?:ms|s|m|h)?\b(?: (?:KiB|MiB|hours?|days?|years?)\b)?`)
	parts  = regexp.MustCompile(`^([\d.]+) ?(\D*)$`)
)

// numbersOf are the numbers of a text, with units as seconds and bytes.
func numbersOf(text string) (found []float64) {
	const day = 24 * time.Hour
	units := map[string]float64{
		"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "ms": 0.001, "s": 1, "m": 60, "h": time.Hour.Seconds(), "hour": time.Hour.Seconds(),
		"day": day.Seconds(), "year": 365 * day.Seconds(),
	}
	for _, one := range number.FindAllString(code.ReplaceAllString(text, ""), -1) {
		match := parts.FindStringSubmatch(strings.ReplaceAll(one, ",", ""))
		n, _ := strconv.ParseFloat(match[1], 64)
		unit := match[2]
		if len(unit) > 1 && unit != "ms" {
			unit = strings.TrimSuffix(unit, "s")
		}
		found = append(found, n*units[unit])
	}
	return found
}

// plain is a constant in the units of [numbersOf].
func plain(constant any) float64 {
	if d, ok := constant.(time.Duration); ok {
		return d.Seconds()
	}
	n, _ := strconv.ParseFloat(fmt.Sprint(constant), 64)
	return n
}

// Each number of docs/limits.md is one of the code.
func TestThePageOfLimitsIsOfTheCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/limits.md")
	require.NoError(t, err)
	seen := 0
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| what ") {
			continue
		}
		seen++
		name := strings.TrimSpace(cells[1])
		constants, ok := rows[name]
		require.True(t, ok, "the row %s has no entry", name)
		var want []float64
		for _, constant := range constants {
			want = append(want, plain(constant))
		}
		require.InDeltaSlice(t, want, numbersOf(cells[2]), 1e-9, name)
		require.Len(t, numbersOf(cells[2]), len(want), name)
	}
	require.Len(t, rows, seen, "an entry has lost its row")
	compose, err := os.ReadFile("../docker-compose.yml")
	require.NoError(t, err)
	require.Contains(t, string(compose), fmt.Sprintf("RETENTION:-%.0fh}", retention.Hours()))
}

func TestNumbersOfLimitsAreSeen(t *testing.T) {
	t.Parallel()
	require.Equal(t, []float64{1, 63, 128 << 10, 16 << 20, 0.01, 60, 1000, 86400, 0.5}, numbersOf("1 to 63 of `a-z 0-9`, 128 KiB, 16 MiB; 10ms to 1m, 1,000, 1 day (0.5)"))
}

// Each limit of the contract has a row.
func TestEveryLimitHasARow(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("limits_test.go")
	require.NoError(t, err)
	table, _, _ := strings.Cut(string(own), "\n}\n")
	seen := 0
	files := map[string]string{"limits/limits.go": "limits."}
	for _, room := range []string{"wire", "recurrence", "delivery", "policy", "timer", "dispatch", "job", "forecast"} {
		files["../core/"+room+"/limits.go"] = room + "."
	}
	for path, prefix := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.CONST {
				continue
			}
			for _, spec := range general.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if seen++; unlisted[name.Name] == "" {
						require.Regexp(t, `[{ ]`+prefix+name.Name+`[,}]`, table, "docs/limits.md has no row for %s", name.Name)
					}
				}
			}
		}
	}
	require.Greater(t, seen, 80, "the oracle sees limits")
}
