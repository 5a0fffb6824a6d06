package jobs

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/site"
)

const operationEdit = "edit"

// The fields of the form of an edit. fieldPayload says that the payload changes. fieldContent is the new payload.
// The page of the count asks for it, so no address has it, and only the user that typed it sees it.
const (
	fieldURL      = "url"
	fieldLabels   = "labels"
	fieldPriority = "priority"
	fieldPayload  = "payload"
	fieldContent  = "content"
)

// The other fields of the form by which a count is carried out: how many there are, and at what rate.
const (
	fieldNumber = "number"
	fieldRate   = "per_second"
)

// editedOf are the fields of a form that say what an edit changes.
func editedOf(form url.Values) url.Values {
	edited := url.Values{}
	for _, name := range []string{fieldURL, fieldLabels, fieldPriority, fieldPayload} {
		if text := strings.TrimSpace(form.Get(name)); text != "" {
			edited.Set(name, text)
		}
	}
	return edited
}

// editOf is what a form changes, as a job takes it. What is wrong with it, the API says.
func editOf(form url.Values) map[string]any {
	edit := map[string]any{}
	for name, values := range editedOf(form) {
		switch name {
		case fieldURL:
			edit["callback"] = map[string]any{"url": values[0]}
		case fieldLabels:
			edit["labels"] = labelsOf(values[0])
		case fieldPriority:
			edit["priority"] = site.NumberOrNull(values[0])
		case fieldPayload:
			edit["payload"] = contentOf(form)
		}
	}
	return edit
}

// contentOf is the payload of a form. A count takes any payload: a dry run finds the same timers with each.
func contentOf(form url.Values) jsontext.Value {
	if !form.Has(fieldContent) {
		return jsontext.Value("{}")
	}
	return jsontext.Value(strings.TrimSpace(form.Get(fieldContent)))
}

// labelsOf are labels as they are typed: customer=42 shop=7.
func labelsOf(text string) map[string]string {
	labels := map[string]string{}
	for label := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(label, "=")
		labels[name] = value
	}
	return labels
}
