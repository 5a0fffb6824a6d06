package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// object is a JSON object of the document.
type object = map[string]any

// Document is an OpenAPI 3.1 document. It is safe for concurrent use.
type Document struct {
	root object

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const location = "wakecall:openapi"

// Load reads a document.
func Load(text []byte) (*Document, error) {
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	root, ok := parsed.(object)
	if !ok {
		return nil, fmt.Errorf("the document is not an object")
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(location, root); err != nil {
		return nil, err
	}
	return &Document{root: root, compiler: compiler, compiled: map[string]*jsonschema.Schema{}}, nil
}

// place is an object of the document with its JSON pointer.
type place struct {
	object
	pointer string
}

// below is the object under a name, references followed.
func (d *Document) below(p place, name string) (place, bool) {
	next, ok := p.object[name].(object)
	if !ok {
		return place{}, false
	}
	found := place{next, p.pointer + "/" + escape(name)}
	for {
		reference, ok := found.object["$ref"].(string)
		if !ok {
			return found, true
		}
		if found, ok = d.at(reference); !ok {
			return place{}, false
		}
	}
}

// at is the object that a reference such as "#/components/schemas/Timer" names.
func (d *Document) at(reference string) (place, bool) {
	found := place{d.root, "#"}
	for token := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		var ok bool
		if found, ok = d.below(found, unescape(token)); !ok {
			return place{}, false
		}
	}
	return found, true
}

// under is the object at the end of a path of names.
func (d *Document) under(p place, names ...string) (place, bool) {
	for _, name := range names {
		var ok bool
		if p, ok = d.below(p, name); !ok {
			return place{}, false
		}
	}
	return p, true
}

// hold checks a value against the schema at a place.
func (d *Document) hold(schema place, value any) error {
	compiled, err := d.compile(schema.pointer)
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func (d *Document) compile(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if schema, ok := d.compiled[pointer]; ok {
		return schema, nil
	}
	schema, err := d.compiler.Compile(location + pointer)
	if err == nil {
		d.compiled[pointer] = schema
	}
	return schema, err
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(token)
}

func unescape(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(token)
}
