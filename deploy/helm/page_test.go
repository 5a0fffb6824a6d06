package helm

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var (
	blocks  = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	keys    = regexp.MustCompile(`--from-file=([a-z-]+)=secrets/([a-z_]+)`)
	charts  = regexp.MustCompile(`(?m)^    helm (?:install|upgrade) wakecall (\S+) --namespace wakecall --values my-values.yaml$`)
	rollout = regexp.MustCompile(`rollout (?:restart|status) deployment/(\S+)`)
	row     = regexp.MustCompile("(?m)^\\| (`.*?) \\|")
	value   = regexp.MustCompile("`([a-zA-Z.]+)`")
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "kubernetes.md"))
	require.NoError(t, err)
	return string(text)
}

// The values of the page are taken by Helm and by Kubernetes.
func TestThePageInstalls(t *testing.T) {
	t.Parallel()
	v, seen := kubeconform(t), 0
	for _, block := range blocks.FindAllStringSubmatch(page(t), -1) {
		var values object
		require.NoError(t, yaml.Unmarshal([]byte(block[1]), &values))
		made, err := render(values)
		require.NoError(t, err, block[1])
		for _, name := range made.kinds() {
			require.Empty(t, faults(v, made[name].text), name)
		}
		seen++
	}
	require.Equal(t, 4, seen)
	for _, chart := range charts.FindAllStringSubmatch(page(t), -1) {
		require.FileExists(t, filepath.Join("..", "..", chart[1], "Chart.yaml"))
	}
	require.Len(t, charts.FindAllString(page(t), -1), 2, "the oracle sees commands")
	for _, found := range rollout.FindAllStringSubmatch(page(t), -1) {
		require.Equal(t, "wakecall-serve", found[1], "what the release wakecall is named")
	}
}

// The Secret of the page has the keys that the values name, of files that deploy/env.sh makes.
func TestThePageMakesTheSecret(t *testing.T) {
	t.Parallel()
	made, err := render(least())
	require.NoError(t, err)
	env := environment(made.container(t, "serve"))
	script, err := os.ReadFile(filepath.Join("..", "env.sh"))
	require.NoError(t, err)
	told := map[string]string{"secret-key": "WAKECALL_SECRET_KEY_FILE", "api-keys": "WAKECALL_API_KEYS_FILE"}
	found := keys.FindAllStringSubmatch(page(t), -1)
	require.Len(t, found, len(told))
	for _, key := range found {
		require.Equal(t, "/etc/wakecall/"+key[1]+"/"+key[1], env[told[key[1]]])
		require.Contains(t, string(script), key[2], "deploy/env.sh makes it")
	}
}

// The page names values that there are.
func TestThePageNamesValues(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("wakecall/values.yaml")
	require.NoError(t, err)
	var values object
	require.NoError(t, yaml.Unmarshal(text, &values))
	seen := 0
	for _, r := range row.FindAllStringSubmatch(page(t), -1) {
		prefix := ""
		for _, v := range value.FindAllStringSubmatch(r[1], -1) {
			name := v[1]
			if strings.HasPrefix(name, ".") {
				name = prefix + name
			}
			prefix, _, _ = strings.Cut(name, ".")
			require.NotNil(t, at[any](values, strings.Split(name, ".")...), name)
			seen++
		}
	}
	require.Greater(t, seen, 15, "the oracle sees values")
}
