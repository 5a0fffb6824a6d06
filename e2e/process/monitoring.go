package process

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// DashboardQueries are the queries of the dashboard, with its variables filled.
func DashboardQueries(t testing.TB) (queries []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout(), "deploy", "grafana", "dashboards", "wakecall.json"))
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	fill := strings.NewReplacer("$__rate_interval", "1m", "$business_type", ".*")
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, fill.Replace(target.Expr))
		}
	}
	return queries
}

var (
	selector = regexp.MustCompile(`\{[^}]*\}|"[^"]*"|\b(?:by|without) \([^)]*\)`)
	metric   = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b`)
	histo    = regexp.MustCompile(`_(?:bucket|count|sum)$`)
	grouped  = regexp.MustCompile(`\bby \(([^)]*)\)`)
	matched  = regexp.MustCompile(`\{([^}]*)\}`)
	compared = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
	word     = regexp.MustCompile(`[a-z_]+`)
)

// added are the labels that a metric has from Prometheus, or as a histogram.
var added = []string{"job", "instance", "le"}

// notMetrics are functions of Prometheus.
var notMetrics = map[string]bool{"histogram_quantile": true, "min_over_time": true}

// WatchedMetrics are the metrics in the dashboard and the alerts, with the labels that they must have.
func WatchedMetrics(t testing.TB) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout(), "deploy", "prometheus", "alerts.yml"))
	require.NoError(t, err)
	expressions := DashboardQueries(t)
	for _, rule := range regexp.MustCompile(`(?s)expr:(.*?)\n        (?:for|labels):`).FindAllStringSubmatch(string(text), -1) {
		expressions = append(expressions, rule[1])
	}
	return watchedBy(expressions)
}

// watchedBy are the metrics of expressions. Each metric of an expression has all of its labels.
func watchedBy(expressions []string) map[string][]string {
	found := map[string][]string{}
	for _, expression := range expressions {
		labels := labelsOf(expression)
		for _, name := range metric.FindAllString(selector.ReplaceAllString(expression, " "), -1) {
			if !notMetrics[name] {
				name = histo.ReplaceAllString(name, "")
				found[name] = append(found[name], labels...)
			}
		}
	}
	return found
}

// labelsOf are the labels by which an expression selects or groups.
func labelsOf(expression string) (labels []string) {
	for _, group := range grouped.FindAllStringSubmatch(expression, -1) {
		labels = append(labels, word.FindAllString(group[1], -1)...)
	}
	for _, selection := range matched.FindAllStringSubmatch(expression, -1) {
		for _, label := range compared.FindAllStringSubmatch(selection[1], -1) {
			labels = append(labels, label[1])
		}
	}
	return slices.DeleteFunc(labels, func(label string) bool { return slices.Contains(added, label) })
}

// HasLabel reports whether a series of a metric has a label, in the text of /metrics.
func HasLabel(shown, metric, label string) bool {
	return regexp.MustCompile(`(?m)^` + metric + `(?:_bucket)?\{(?:[^}]*,)?` + label + `="`).MatchString(shown)
}
