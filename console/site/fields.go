package site

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// FieldsOf are the values of a form, in order of their names.
func FieldsOf(form url.Values) (all []Field) {
	for name, values := range form {
		for _, value := range values {
			all = append(all, Field{Name: name, Value: value, Hidden: name == "etag"})
		}
	}
	slices.SortStableFunc(all, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Field is one value of a form. A hidden one says nothing to people.
type Field struct {
	Name, Value string
	Hidden      bool
}

// NumberOrNull is what a form says of a number, as the API takes it. What is none, the API refuses.
func NumberOrNull(text string) any {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number
	}
	return text
}

// Indented is a text of JSON for people.
func Indented(raw jsontext.Value) string {
	pretty := slices.Clone(raw)
	if pretty.Indent(jsontext.WithIndent("  ")) != nil {
		return string(raw)
	}
	return string(pretty)
}
