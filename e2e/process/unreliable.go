package process

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// StoreFaults are the error rates of Temporal's stores, by store, method and kind of error.
// The kinds are those of Temporal's own fault injection, such as Timeout, and
// ExecuteAndTimeout for a write that succeeds but seems to fail.
type StoreFaults map[string]map[string]map[string]float64

// Unreliable restarts Temporal on a store with faults, or on one without.
func (p *Production) Unreliable(faults StoreFaults) {
	p.T.Helper()
	require.Zero(p.T, p.Temporal.Stop())
	p.config = ""
	if faults != nil {
		p.config = p.faultyConfig(faults)
	}
	p.Temporal = p.Start("temporal")[0]
}

// faultyConfig is the configuration of the server's image with faults added.
func (p *Production) faultyConfig(faults StoreFaults) (file string) {
	list := exec.CommandContext(p.T.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/server")
	list.Dir = filepath.Join(checkout(), "e2e")
	module, err := list.Output()
	require.NoError(p.T, err)
	template, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "common", "config", "config_template_embedded.yaml"))
	require.NoError(p.T, err)
	stores := map[string]any{}
	for store, methods := range faults {
		errors := map[string]any{}
		for method, rates := range methods {
			errors[method] = map[string]any{"errors": rates}
		}
		stores[store] = map[string]any{"methods": errors}
	}
	injected, err := json.Marshal(map[string]any{"targets": map[string]any{"dataStores": stores}})
	require.NoError(p.T, err)
	const before = "        default:\n            sql:\n"
	require.Contains(p.T, string(template), before)
	after := "        default:\n            faultInjection: " + string(injected) + "\n            sql:\n"
	changed := strings.ReplaceAll(string(template), before, after)
	file = filepath.Join(p.T.TempDir(), "temporal.yaml")
	require.NoError(p.T, os.WriteFile(file, []byte(changed), 0o600))
	return file
}
