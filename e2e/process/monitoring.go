package process

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
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
)

// notMetrics are functions of Prometheus.
var notMetrics = map[string]bool{"histogram_quantile": true, "min_over_time": true}

// WatchedMetrics are the metrics in the dashboard and the alerts.
func WatchedMetrics(t testing.TB) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout(), "deploy", "prometheus", "alerts.yml"))
	require.NoError(t, err)
	expressions := DashboardQueries(t)
	for _, rule := range regexp.MustCompile(`(?s)expr:(.*?)\n        (?:for|labels):`).FindAllStringSubmatch(string(text), -1) {
		expressions = append(expressions, rule[1])
	}
	found := map[string]bool{}
	for _, expression := range expressions {
		for _, name := range metric.FindAllString(selector.ReplaceAllString(expression, " "), -1) {
			if !notMetrics[name] {
				found[histo.ReplaceAllString(name, "")] = true
			}
		}
	}
	return found
}
