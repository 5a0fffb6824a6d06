package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schema of each event in the catalogue is that of the document, on its own.
func TestTheCatalogueOfEvents(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	page, err := os.ReadFile("../docs/events.md")
	require.NoError(t, err)
	types := constantsOf(t, "../core/timer/event.go", "EventType")
	files, err := filepath.Glob("../docs/events/*")
	require.NoError(t, err)
	require.Len(t, files, len(types))
	for _, event := range types {
		schema := document.schema(t, "AlertEvent").at(t, "discriminator", "mapping")[event].(string)
		name := schema[strings.LastIndex(schema, "/")+1:]
		alone := document.inline(t, document.schema(t, name)).(map[string]any)
		alone["$schema"], alone["title"] = "https://json-schema.org/draft/2020-12/schema", event
		want, err := json.MarshalIndent(alone, "", "  ")
		require.NoError(t, err)
		file := "../docs/events/" + event + ".schema.json"
		text, err := os.ReadFile(file)
		require.NoError(t, err, "%s is to hold\n%s", file, want)
		require.Equal(t, string(want)+"\n", string(text), file)
		require.Contains(t, string(page), "| `"+event+"` |")
		require.Contains(t, string(page), "](events/"+event+".schema.json)")
	}
}

// inline is a schema with all others that it leans on in their places.
func (n node) inline(t *testing.T, schema any) any {
	switch v := schema.(type) {
	case node:
		if ref, ok := v["$ref"].(string); ok {
			return n.inline(t, n.schema(t, ref[strings.LastIndex(ref, "/")+1:]))
		}
		whole := map[string]any{}
		for name, part := range v {
			if name != "examples" && name != "example" {
				whole[name] = n.inline(t, part)
			}
		}
		return whole
	case []any:
		parts := make([]any, 0, len(v))
		for _, part := range v {
			parts = append(parts, n.inline(t, part))
		}
		return parts
	}
	return schema
}
