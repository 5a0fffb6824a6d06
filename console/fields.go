package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// fieldsOf are the values of a form, in order of their names.
func fieldsOf(form url.Values) (all []field) {
	for name, values := range form {
		for _, value := range values {
			all = append(all, field{Name: name, Value: value, Hidden: name == "etag"})
		}
	}
	slices.SortStableFunc(all, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// field is one value of a form. A hidden one says nothing to people.
type field struct {
	Name, Value string
	Hidden      bool
}

// numberOrNull is what a form says of a number, as the API takes it. What is none, the API refuses.
func numberOrNull(text string) any {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number
	}
	return text
}
