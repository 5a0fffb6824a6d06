package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// promtool runs Prometheus' own checks.
func promtool(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	require.NoError(t, err, "this test needs Prometheus' own tool: apt-get install prometheus")
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	output, err := command.CombinedOutput()
	return string(output), err
}

// monitoring is a copy of the files of Prometheus, with paths of this machine.
func monitoring(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../deploy/prometheus")))
	edit(t, filepath.Join(dir, "prometheus.yml"), "/etc/prometheus/", dir+"/")
	return dir
}

func edit(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
}

func TestPrometheusTakesItsFiles(t *testing.T) {
	t.Parallel()
	dir := monitoring(t)
	output, err := promtool(t, dir, "check", "config", "prometheus.yml")
	require.NoError(t, err, output)
	output, err = promtool(t, dir, "test", "rules", "alerts_test.yml")
	require.NoError(t, err, output)
	edit(t, filepath.Join(dir, "alerts.yml"), "> 5\n", "> 500\n")
	output, err = promtool(t, dir, "test", "rules", "alerts_test.yml")
	require.Error(t, err, "an alert that stays away is seen")
	require.Contains(t, output, "WakecallLate")
	edit(t, filepath.Join(dir, "alerts.yml"), "rate(wakecall_lateness", "rat(wakecall_lateness")
	_, err = promtool(t, dir, "check", "config", "prometheus.yml")
	require.Error(t, err, "a rule that nobody understands is seen")
}

// Each container is scraped at its own address.
func TestPrometheusFindsTheDeployment(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/prometheus/prometheus.yml")
	require.NoError(t, err)
	services := composed(t).Services
	for service, variable := range map[string]string{"wakecall": "WAKECALL_METRICS_ADDR", "api": "WAKECALL_METRICS_ADDR", "worker": "WAKECALL_METRICS_ADDR", "temporal": "PROMETHEUS_ENDPOINT"} {
		require.Equal(t, "0.0.0.0:9090", *services[service].Environment[variable])
		require.Contains(t, string(text), "{names: ["+service+"], type: A, port: 9090}")
		for _, port := range services[service].Ports {
			require.NotEqual(t, uint32(9090), port.Target, "the metrics of %s are published to nobody", service)
		}
	}
	source, err := os.ReadFile("../../deploy/grafana/provisioning/datasources/prometheus.yml")
	require.NoError(t, err)
	require.Contains(t, string(source), "http://prometheus:9090")
	home := *services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	require.FileExists(t, filepath.Join("../../deploy/grafana/dashboards", filepath.Base(home)))
}

// Prometheus understands the query of every panel.
func TestDashboardIsUnderstood(t *testing.T) {
	t.Parallel()
	expressions := process.DashboardQueries(t)
	require.Greater(t, len(expressions), 20)
	rules := map[string]any{}
	var asked []map[string]string
	for _, expression := range expressions {
		asked = append(asked, map[string]string{"record": "asked", "expr": expression})
	}
	rules["groups"] = []any{map[string]any{"name": "dashboard", "rules": asked}}
	text, err := json.Marshal(rules) // which is YAML too
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "rules.yml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	output, err := promtool(t, dir, "check", "rules", "--lint=none", file)
	require.NoError(t, err, output)
	edit(t, file, "histogram_quantile(", "histogram_quantil(")
	_, err = promtool(t, dir, "check", "rules", "--lint=none", file)
	require.Error(t, err, "the oracle reads expressions")
}
