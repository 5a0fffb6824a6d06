package observe

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/api"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/resend"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Prometheus knows the attempts of all processes, from their metrics. It knows the worst lateness
// to the end of its bucket only.
type Prometheus struct {
	client api.Client
	answers
}

// NewPrometheus returns the server at a URL.
func NewPrometheus(address string) (*Prometheus, error) {
	client, err := api.NewClient(api.Config{Address: address, Client: &http.Client{
		Timeout: tuning.PrometheusTimeout, Transport: resend.Bound(tuning.AttemptSends),
	}})
	return &Prometheus{client: client, answers: answers{now: time.Now, known: map[string]answer{}}}, err
}

// Lateness returns the attempts of some business types, or of all for nil. An answer is up to
// [tuning.PrometheusTrusted] old. The error is [wire.Unavailable].
func (p *Prometheus) Lateness(ctx context.Context, types []string, span outcomes.Span) ([]outcomes.Lateness, error) {
	return p.answer(fmt.Sprint(types == nil, types, span), func() ([]outcomes.Lateness, error) {
		return p.lateness(context.WithoutCancel(ctx), types, span) // others may wait for the same answer
	})
}

// lateness asks the server.
func (p *Prometheus) lateness(ctx context.Context, types []string, span outcomes.Span) ([]outcomes.Lateness, error) {
	within := "[" + strconv.Itoa(int(span.Step.Seconds())) + "s]"
	of := selector(types)
	rung := "sum by (le) (increase(wakecall_lateness_seconds_bucket{" + of + "}" + within + "))"
	attempts := "sum(increase(wakecall_attempts_total{" + of
	by := map[wire.Instant]*outcomes.Lateness{}
	for query, put := range map[string]func(*outcomes.Lateness, float64){
		"histogram_quantile(0.5, " + rung + ")":       func(l *outcomes.Lateness, v float64) { l.P50MS = milliseconds(v) },
		"histogram_quantile(0.99, " + rung + ")":      func(l *outcomes.Lateness, v float64) { l.P99MS = milliseconds(v) },
		"histogram_quantile(1, " + rung + ")":         func(l *outcomes.Lateness, v float64) { l.WorstMS = milliseconds(v) },
		attempts + "}" + within + "))":                func(l *outcomes.Lateness, v float64) { l.Attempts = int64(v + 0.5) },
		attempts + `,result="retry"}` + within + "))": func(l *outcomes.Lateness, v float64) { l.Retried = int64(v + 0.5) },
	} {
		points, err := p.query(ctx, strings.ReplaceAll(query, "{,", "{"), span)
		if err != nil {
			return nil, &wire.Error{Code: wire.Unavailable, Message: "Prometheus did not answer.", Cause: err}
		}
		for at, value := range points {
			if by[at] == nil {
				by[at] = &outcomes.Lateness{At: at}
			}
			put(by[at], value)
		}
	}
	var known []outcomes.Lateness
	for at := span.From; at < span.To; at = at.Add(span.Step) {
		if one := by[at]; one != nil && one.Attempts > 0 {
			known = append(known, *one)
		}
	}
	return known, nil
}

func milliseconds(seconds float64) *float64 {
	ms := seconds * 1000
	return &ms
}

// selector selects the series of some business types; of all for nil.
func selector(types []string) string {
	if types == nil {
		return ""
	}
	quoted := make([]string, len(types))
	for i, businessType := range types {
		quoted[i] = regexp.QuoteMeta(businessType)
	}
	return labelType + "=~" + strconv.Quote(strings.Join(quoted, "|"))
}

// points are the answer to a query over a range.
type points struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Result []struct {
			Values [][2]any `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// query asks for a value at the end of each step, and returns it by the step's beginning. Values
// that are no numbers are left out, and infinite ones, which JSON does not know.
func (p *Prometheus) query(ctx context.Context, query string, span outcomes.Span) (map[wire.Instant]float64, error) {
	target := p.client.URL("/api/v1/query_range", nil)
	form := url.Values{
		"query": {query}, "step": {strconv.FormatFloat(span.Step.Seconds(), 'f', -1, 64)},
		"start": {span.From.Add(span.Step).String()}, "end": {span.To.String()},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, body, err := p.client.Do(ctx, request) //nolint:bodyclose // the client closes it
	if err != nil {
		return nil, err
	}
	var answer points
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("status %d: %s", response.StatusCode, answer.Error)
	}
	values := map[wire.Instant]float64{}
	for _, series := range answer.Data.Result {
		for _, point := range series.Values {
			at, ok := point[0].(float64)
			text, _ := point[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if ok && err == nil && !math.IsNaN(value) && !math.IsInf(value, 0) {
				values[wire.At(time.UnixMilli(int64(at*1000))).Add(-span.Step)] = value
			}
		}
	}
	return values, nil
}
