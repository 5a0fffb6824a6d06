package api

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A default beside a property makes generators for TypeScript take the field
// for required: it stands in a schema of its own.
func TestDocumentDefaultsStandAlone(t *testing.T) {
	beside := 0
	readDocument(t).at(t, "components", "schemas").walk(func(n node) {
		properties, _ := n["properties"].(node)
		for name, property := range properties {
			if schema, ok := property.(node); ok && schema["default"] != nil {
				t.Errorf("%s has a default beside it", name)
				beside++
			}
		}
	})
	require.Zero(t, beside)
}

// Generators for Go take components of any kind for types of one namespace.
func TestDocumentUsesANameOnce(t *testing.T) {
	seen := map[string]string{}
	components := readDocument(t).at(t, "components")
	for kind := range components {
		if kind == "securitySchemes" || kind == "headers" {
			continue // no types are made of them
		}
		for name := range components.at(t, kind) {
			require.Empty(t, seen[name], "%s is one of the %s too", name, kind)
			seen[name] = kind
		}
	}
}

func TestDocumentHasEveryEvent(t *testing.T) {
	event := readDocument(t).schema(t, "AlertEvent")
	types := constantsOf(t, "../core/timer/event.go", "EventType")
	require.ElementsMatch(t, types, slices.Collect(maps.Keys(event.at(t, "discriminator", "mapping"))))
	require.Len(t, event["oneOf"], len(types))
}

// The example that a reader of the page tries first is a booking with a delay.
func TestDocumentShowsADelayFirst(t *testing.T) {
	var document struct {
		Paths struct {
			Timers struct {
				Post struct {
					RequestBody struct {
						Content map[string]struct{ Examples yaml.Node }
					} `yaml:"requestBody"`
				}
			} `yaml:"/v1/timers"`
		}
	}
	require.NoError(t, yaml.Unmarshal(OpenAPI, &document))
	examples := document.Paths.Timers.Post.RequestBody.Content["application/json"].Examples
	var first struct{ Value node }
	require.NoError(t, examples.Content[1].Decode(&first))
	require.Contains(t, first.Value, "delay")
	require.Contains(t, first.Value, "callback", "it needs no policy")
}
