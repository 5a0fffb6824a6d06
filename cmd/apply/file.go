package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// member is the field of a policy with its business type.
const member = "business_type"

// policy is one entry of a file: the body of a PUT.
type policy struct {
	businessType string
	body         map[string]any
}

// read parses a file of policies. Its error names everything wrong with the file itself.
// Wakecall checks the content of the policies.
func read(text []byte, lookup func(string) (string, bool)) ([]policy, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(known(root), expand(root, lookup)); err != nil {
		return nil, err
	}
	keepDates(root)
	var file struct {
		Policies []map[string]any `yaml:"policies"`
	}
	if err := root.Decode(&file); err != nil { // refuses a duplicate key
		return nil, err
	}
	if file.Policies == nil {
		return nil, errors.New("the file has no list named policies")
	}
	return named(file.Policies)
}

// parse parses the one document of a file.
func parse(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file must be one YAML document")
	}
	return &root, nil
}

// known refuses unknown names at the top of a file. Otherwise a misspelt name would be ignored.
func known(root *yaml.Node) error {
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		return errors.New("the file must be a mapping with a list named policies")
	}
	var unknown []error
	for i := 0; i < len(top.Content); i += 2 {
		if key := top.Content[i]; key.Value != "policies" {
			unknown = append(unknown, fmt.Errorf("line %d: %s is not known; policies is", key.Line, key.Value))
		}
	}
	return errors.Join(unknown...)
}

func named(bodies []map[string]any) (policies []policy, err error) {
	var errs []error
	seen := map[string]bool{}
	for i, body := range bodies {
		businessType, ok := body[member].(string)
		switch {
		case !ok || businessType == "":
			errs = append(errs, fmt.Errorf("policies[%d]: /%s is required", i, member))
		case seen[businessType]:
			errs = append(errs, fmt.Errorf("%s: is in the file twice", businessType))
		}
		seen[businessType] = true
		policies = append(policies, policy{businessType: businessType, body: body})
	}
	return policies, errors.Join(errs...)
}

// reference is ${NAME}; with another dollar in front it stands for itself.
var reference = regexp.MustCompile(`\$?\$\{([^}]*)\}`)

// expand replaces the references to environment variables in every string. The result is always
// a string.
func expand(node *yaml.Node, lookup func(string) (string, bool)) error {
	var missing []error
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" && reference.MatchString(node.Value) {
		node.Style = yaml.DoubleQuotedStyle
		node.Value = reference.ReplaceAllStringFunc(node.Value, func(found string) string {
			if found[1] == '$' {
				return found[1:]
			}
			name := found[2 : len(found)-1]
			value, ok := lookup(name)
			if !ok {
				missing = append(missing, fmt.Errorf("line %d: the environment variable %s is not set", node.Line, name))
			}
			return value
		})
	}
	for i, below := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			continue // a key
		}
		missing = append(missing, expand(below, lookup))
	}
	return errors.Join(missing...)
}

// keepDates makes texts of dates. A policy has none, but a header may be a version such as
// 2022-11-28, to which YAML would add a time of day.
func keepDates(node *yaml.Node) {
	if node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, below := range node.Content {
		keepDates(below)
	}
}

// load reads the file at a path, with the variables of this process.
func load(path string) ([]policy, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	policies, err := read(text, os.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return policies, nil
}
