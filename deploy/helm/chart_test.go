package helm

import (
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // Helm tells each link that it follows
	os.Exit(m.Run())
}

var load = sync.OnceValues(func() (*chart.Chart, error) { return loader.Load("wakecall") })

type object = map[string]any

// rendered is what Helm makes of the chart: by kind and name.
type rendered map[string]resource

type resource struct {
	text []byte
	object
}

// render renders the chart with values, as `helm install` does.
func render(values object) (rendered, error) {
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "shop", Namespace: "shop", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	found := rendered{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := found.add(name, files[name]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// add takes the documents of one file.
func (r rendered) add(file, text string) error {
	if strings.HasSuffix(file, "NOTES.txt") {
		r["notes"] = resource{text: []byte(text)}
		return nil
	}
	for document := range strings.SplitSeq(text, "\n---") {
		var o object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return err
		}
		if len(o) > 0 {
			r[o["kind"].(string)+"/"+at[string](o, "metadata", "name")] = resource{[]byte(document), o}
		}
	}
	return nil
}

// kinds are the resources, sorted, without the notes.
func (r rendered) kinds() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r)), func(name string) bool { return name == "notes" })
}

// at is what stands at a path of an object; nothing where there is no such path.
func at[T any](o object, path ...string) (found T) {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	found, _ = o[path[len(path)-1]].(T)
	return found
}

// container is the one container of a role.
func (r rendered) container(t *testing.T, role string) object {
	t.Helper()
	deployment := r["Deployment/shop-wakecall-"+role].object
	require.NotNil(t, deployment, "%s of %s", role, r.kinds())
	return at[[]any](deployment, "spec", "template", "spec", "containers")[0].(object)
}

// environment is what a container is told: the text of each variable, or the key of the
// Secret that it is taken from.
func environment(container object) map[string]string {
	found := map[string]string{}
	for _, entry := range at[[]any](container, "env") {
		variable := entry.(object)
		text := at[string](variable, "value")
		if key := at[string](variable, "valueFrom", "secretKeyRef", "key"); key != "" {
			text = "secret " + key
		}
		found[variable["name"].(string)] = text
	}
	return found
}
