package helm

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yannh/kubeconform/pkg/validator"
)

func kubeconform(t *testing.T) validator.Validator {
	t.Helper()
	where, err := filepath.Abs("schemas")
	require.NoError(t, err)
	v, err := validator.New([]string{where + "/{{.ResourceKind}}{{.KindSuffix}}.json"}, validator.Opts{Strict: true})
	require.NoError(t, err)
	return v
}

// faults are what Kubernetes would refuse.
func faults(v validator.Validator, text []byte) (found []string) {
	for _, result := range v.Validate("chart", io.NopCloser(bytes.NewReader(text))) {
		if result.Status != validator.Valid {
			found = append(found, result.Err.Error())
		}
	}
	return found
}

// Whatever the values, Kubernetes takes what comes of them. Of what was taken once the same
// text is not asked for again.
func TestKubernetesTakesEveryCombination(t *testing.T) {
	t.Parallel()
	v, taken := kubeconform(t), map[string]bool{}
	for _, values := range combinations() {
		made, err := render(values)
		require.NoError(t, err)
		for _, name := range made.kinds() {
			if text := made[name].text; !taken[string(text)] {
				require.Empty(t, faults(v, text), "%s\n%s", name, text)
				taken[string(text)] = true
			}
		}
	}
	require.Greater(t, len(taken), 100)
}

// The control: what is misspelt, of another kind or missing is refused.
func TestWhatKubernetesRefusesIsSeen(t *testing.T) {
	t.Parallel()
	v := kubeconform(t)
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []}":                                                             "prots",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: eighty}]}":                                               "port",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1}":                                                   "selector",
		"apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\nspec: {endpoint: []}":                             "endpoint",
		"apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a}\nspec: {groups: [{rules: [{alert: a}], name: a}]}": "expr",
		"apiVersion: v1\nkind: Sevrice\nmetadata: {name: a}":                                                                                "could not find schema",
	} {
		found := faults(v, []byte(text))
		require.Len(t, found, 1, text)
		require.Contains(t, found[0], want)
	}
}
