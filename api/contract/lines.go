package contract

import (
	"bytes"
	"fmt"
	"strings"
)

const mediaTypeNDJSON = "application/x-ndjson"

// holdLines checks every line of a body against a schema. OpenAPI 3.1 has no term for such a
// body: its schema is that of each line.
func (d *Document) holdLines(schema place, body []byte) error {
	number := 0
	for line := range bytes.Lines(body) {
		number++
		if err := d.holdBody(schema, line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

// holdEvents checks every server-sent event against the schema that x-events names for its kind.
func (d *Document) holdEvents(content place, body []byte) error {
	for event := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		kind, data := eventOf(event)
		if kind == "" && data == "" {
			continue // a comment, or a retry interval
		}
		schema, ok := d.under(content, "x-events", kind)
		if !ok {
			return fmt.Errorf("the event %q is not declared", kind)
		}
		if err := d.holdBody(schema, []byte(data)); err != nil {
			return fmt.Errorf("the event %s: %w", kind, err)
		}
	}
	return nil
}

// eventOf is the kind and the data of one event of one line of data.
func eventOf(event string) (kind, data string) {
	for line := range strings.SplitSeq(event, "\n") {
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "event":
			kind = value
		case "data":
			data = value
		}
	}
	return kind, data
}
