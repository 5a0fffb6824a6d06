// Command schemas writes the JSON schemas that the chart is checked against, from what
// Kubernetes and the operator of Prometheus publish. It is run when one of them is newer.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// The modules of which the sources are taken, at the versions that the chart is checked for.
const (
	kubernetes = "k8s.io/kubernetes@v1.37.2"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
)

// kinds are those that the chart makes.
var kinds = []string{
	"io.k8s.api.apps.v1.Deployment", "io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.Service", "io.k8s.api.core.v1.ServiceAccount",
	"io.k8s.api.networking.v1.NetworkPolicy", "io.k8s.api.policy.v1.PodDisruptionBudget",
}

// definitions are the custom resources that the chart makes.
var definitions = []string{"servicemonitors", "prometheusrules"}

// quantity is a text in what Kubernetes publishes, and may be a number.
const quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity"

type schema = map[string]any

func main() {
	log.SetFlags(0)
	if err := errorsOf(writeKinds, writeDefinitions); err != nil {
		log.Fatal(err)
	}
}

func errorsOf(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// source reads a file of a module.
func source(module string, path ...string) ([]byte, error) {
	text, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", module, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(append([]string{found.Dir}, path...)...))
}

func writeKinds() error {
	text, err := source(kubernetes, "api", "openapi-spec", "swagger.json")
	if err != nil {
		return err
	}
	var swagger struct{ Definitions map[string]schema }
	if err := json.Unmarshal(text, &swagger); err != nil {
		return err
	}
	for _, kind := range kinds {
		parts := strings.Split(kind, ".")
		group, version, name := parts[len(parts)-3], parts[len(parts)-2], parts[len(parts)-1]
		file := name + "-" + group + "-" + version
		if group == "core" {
			file = name + "-" + version
		}
		used := schema{}
		collect(swagger.Definitions, kind, used)
		if used[quantity] != nil {
			used[quantity] = schema{"type": []string{"number", "string"}}
		}
		if err := write(file, schema{"$ref": "#/definitions/" + kind, "definitions": used}); err != nil {
			return err
		}
	}
	return nil
}

// collect copies a definition and all that it names.
func collect(all map[string]schema, name string, into schema) {
	if into[name] != nil {
		return
	}
	own := all[name]
	into[name] = own
	text, _ := json.Marshal(own)
	for _, part := range strings.Split(string(text), `"#/definitions/`)[1:] {
		below, _, _ := strings.Cut(part, `"`)
		collect(all, below, into)
	}
}

func writeDefinitions() error {
	for _, plural := range definitions {
		text, err := source(operator, "example", "prometheus-operator-crd", "monitoring.coreos.com_"+plural+".yaml")
		if err != nil {
			return err
		}
		var found struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema schema }
				}
			}
		}
		if err := yaml.Unmarshal(text, &found); err != nil {
			return err
		}
		version := found.Spec.Versions[0]
		if err := write(found.Spec.Names.Kind+"-monitoring-"+version.Name, version.Schema.OpenAPIV3Schema); err != nil {
			return err
		}
	}
	return nil
}

// write leaves a schema in the file that kubeconform looks for.
func write(name string, s schema) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(strict("", s)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("schemas", strings.ToLower(name)+".json"), text.Bytes(), 0o644)
}

// strict is a part of a schema that knows its fields only, without what is for readers. within
// is the name of the field that the part is the value of.
func strict(within string, part any) any {
	switch x := part.(type) {
	case []any:
		for i := range x {
			x[i] = strict("", x[i])
		}
	case schema:
		for name, below := range x {
			if within != "properties" && within != "definitions" && forReaders(name, below) {
				delete(x, name)
				continue
			}
			x[name] = strict(name, below)
		}
		if within != "properties" && within != "definitions" {
			return closed(x)
		}
	}
	return part
}

func forReaders(name string, value any) bool {
	_, text := value.(string)
	return name == "description" && text || name == "default" || strings.HasPrefix(name, "x-kubernetes-") && name != openFields
}

const openFields = "x-kubernetes-preserve-unknown-fields"

// closed lets an object have its own fields only, and a number stand where Kubernetes takes one.
func closed(x schema) schema {
	if x["format"] == "int-or-string" {
		return schema{"type": []string{"integer", "string"}}
	}
	if x["properties"] != nil && x["additionalProperties"] == nil && x[openFields] == nil {
		x["additionalProperties"] = false
	}
	delete(x, openFields)
	return x
}
