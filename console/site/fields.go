package site

import (
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// FieldsOf are the values of a form, in order of their names.
func FieldsOf(form url.Values) (all []Field) {
	for name, values := range form {
		for _, value := range values {
			all = append(all, Field{Name: name, Value: value, Hidden: name == "etag" || name == "back"})
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
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	if number, ok := Number(text); ok {
		return number
	}
	return text
}

// grouped is a number with its thousands apart, as pages write it.
var grouped = regexp.MustCompile(`^\d{1,3}(,\d{3})+(\.\d+)?$`)

// Number reads a number as people type it, also with its thousands apart.
func Number(text string) (number float64, ok bool) {
	if text = strings.TrimSpace(text); grouped.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil && !math.IsInf(number, 0) && !math.IsNaN(number)
}

// Indented is a text of JSON for people.
func Indented(raw jsontext.Value) string {
	pretty := slices.Clone(raw)
	if pretty.Indent(jsontext.WithIndent("  ")) != nil {
		return string(raw)
	}
	return string(pretty)
}
