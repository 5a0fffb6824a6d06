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

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// limits maps each row of docs/limits.md to the numbers of its middle column, in their
// order. A number that stands here as one has no constant.
var limits = map[string][]any{
	"business type":          {1, timer.MaxBusinessTypeLen},
	"reuse of a business id": {retention},
	"business id":            {1, timer.MaxBusinessIDLen},
	"labels of a timer":      {timer.MaxLabels, timer.MaxLabelKey, timer.MaxLabelValue},
	"payload":                {timer.MaxPayload, timer.MaxContentTypeLen},
	"body of one timer":      {maxBody},
	"batch":                  {maxBatch, maxBatchBody},
	"due time":               {timer.MaxPast, timer.MaxAhead},

	"local due time (`due_local`)": {},
	"`max_wait`":                   {time.Millisecond, timer.MaxAhead},
	"attempt timeout":              {timer.DefaultAttemptTimeout, timer.MinAttemptTimeout, timer.MaxAttemptTimeout},
	"ladder":                       {timer.MaxAttempts, time.Millisecond, timer.MaxRetryStep, 1, timer.MaxMultiplier},
	"`Retry-After`":                {timer.MaxRetryAfter, time.Duration(0), timer.MaxRetryAfter},
	"`priority`":                   {timer.DefaultPriority, timer.MinPriority, timer.MaxPriority},
	"recurrence":                   {timer.MaxCrons, timer.MaxCronLen, timer.MaxMoments, timer.MaxExcludes, timer.MinInterval, timer.MaxAhead, timer.MaxOccurrences},
	"extra rings of a recurring timer that wait": {timer.MaxExtras},
	"missed occurrences made up for":             {timer.MaxMadeUp},
	"upcoming occurrences listed":                {timer.DefaultUpcoming, timer.MaxUpcoming, timer.MaxUpcomingSteps},
	"callback URL":                               {timer.MaxURLLen},
	"exchange, routing key, queue of a broker":   {timer.MaxShortString},
	"nesting of a timer or policy":               {timer.MaxNesting},
	"arrays and maps of a body":                  {maxElements, maxMembers},
	"field errors that an answer names":          {timer.MaxFieldErrors, maxBatchFieldErrors, timer.MaxPointer, timer.MaxFieldErrorDetail},
	"callback headers":                           {timer.MaxHeaders, timer.MaxHeaderName, timer.MaxHeaderValue},
	"`tls` of a policy":                          {timer.MaxPEM},
	"signing secrets":                            {timer.MaxSecrets, timer.MinSecretBytes, timer.MaxSecretBytes},

	"secrets that sign at once, replaced ones included": {timer.MaxSigners},
	"overlap of a replaced secret":                      {timer.DefaultSecretOverlap, timer.MaxSecretOverlap},
	"`adds_per_second`, `callbacks_per_second`":         {0, timer.MinRate, timer.MaxRate},
	"`adds_burst`": {1, timer.MaxRate},
	"`in_flight`":  {timer.DefaultInFlight, 1, timer.MaxInFlight, tuning.DispatchInFlight},
	"`pending`":    {0, timer.MaxPending},
	"`preload`":    {timer.DefaultPreload, time.Duration(0), timer.MinPreload, timer.MaxPreload},

	"`fallback.after`":   {timer.DefaultFallbackAfter, timer.MinFallbackAfter, timer.MaxFallbackAfter},
	"`expires_after`":    {time.Millisecond, timer.MaxAhead},
	"emergency":          {timer.MaxEmergencyTypes, timer.MaxNote},
	"redelivery of many": {timer.DefaultRedeliveryRate, timer.MinRedeliveryRate, timer.MaxRedeliveryRate},
	"bulk job":           {timer.DefaultBulkRate, timer.MinBulkRate, timer.MaxBulkRate, timer.MaxBulkID},
	"time to acknowledge later (`ack.within`)": {timer.MinAckWithin, timer.MaxAckWithin, timer.MaxAckReason, timer.MaxRetryStep},
	"forecast":           {timer.DefaultForecast, timer.DefaultForecastStep, timer.MaxForecastSteps, timer.MaxForecastStep, tuning.ForecastKept, tuning.ForecastTypes},
	"record of attempts": {timer.MaxAnswer, timer.MaxAnswers},
	"rate of a dispatch": {timer.MinDispatchRate, timer.MaxDispatchRate, timer.MaxWarmUp},
	"changes of a dispatch (rate, pause, resume)":   {tuning.ChangeableHistory, http.StatusConflict},
	"items of a dispatch":                           {timer.MaxInlineItems, timer.MaxInlineBytes, maxDispatchBody, maxItemLine, timer.MaxDispatchLife},
	"payload of an item":                            {timer.MaxDispatchItem},
	"items of one callback":                         {timer.DefaultDispatchPage, timer.MaxDispatchPage, timer.MaxPageAnswer},
	"loader":                                        {1, timer.MaxDispatchShards, timer.DefaultDispatchPage, timer.MaxDispatchPage, timer.MaxLoaderAnswer, timer.MaxCursor},
	"lines that an upload's refusal names":          {timer.MaxFieldErrors},
	"upload that is not completed":                  {tuning.DispatchUploadLife},
	"response":                                      {timer.MaxResponseRead, tuning.ReceiverHeaderBytes, timer.MaxFailureMessage},
	"bookings under way at once":                    {tuning.LeastBookings, tuning.MaxConcurrency, http.StatusServiceUnavailable, tuning.LongestQueue},
	"wait for an effect (`wait=`)":                  {engine.DefaultWait, engine.MaxWait},
	"receivers connected to one gateway":            {tuning.StreamConnectionsPerType, tuning.StreamConnections, defaultWindow, 1, maxWindow, maxStreamAnswer},
	"page of a list":                                {defaultPageSize, maxPageSize, defaultJobs, maxJobs},
	"page of a timer's attempts":                    {defaultRuns, maxRuns},
	"page of a timer's history":                     {defaultRuns, maxRuns},
	"`Idempotency-Key`":                             {1, maxIdempotencyKey},
	"bookings of one id among which a key is found": {timer.MaxEarlierKeys, tuning.KeyPages * tuning.MaxListed},
	"refused changes shown":                         {timer.MaxRefusals, timer.MaxRefusalBytes},
}

// retention is set where Temporal is: WAKECALL_RETENTION, and RETENTION of the compose file.
const retention = 720 * time.Hour

// unlisted are constants of the contract that no row names, and why.
var unlisted = map[string]string{
	"MissedGrace":       "docs/recurring.md, the rule skip",
	"policyDepth":       "part of the form of a policy",
	"pollIDParts":       "part of the form of an id",
	"webSocketKeyBytes": "of RFC 6455",
	"itemSlack":         "part of maxItemLine",
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
	rows := 0
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| what ") {
			continue
		}
		rows++
		name := strings.TrimSpace(cells[1])
		constants, ok := limits[name]
		require.True(t, ok, "the row %s has no entry", name)
		var want []float64
		for _, constant := range constants {
			want = append(want, plain(constant))
		}
		require.InDeltaSlice(t, want, numbersOf(cells[2]), 1e-9, name)
		require.Len(t, numbersOf(cells[2]), len(want), name)
	}
	require.Len(t, limits, rows, "an entry has lost its row")
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
	for path, prefix := range map[string]string{"../timer/limits.go": "timer.", "limits.go": ""} {
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
