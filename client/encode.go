package client

import (
	"bytes"
	stdjson "encoding/json"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// encoder encodes values as encoding/json does, but keeps raw JSON in them byte for byte. A
// receiver must get a payload unchanged, and Wakecall takes the same timer with other bytes for
// another one.
type encoder struct {
	options json.Options
	held    []heldValue
}

// heldValue is the value for a placeholder that ends at end.
type heldValue struct {
	end int
	raw []byte
}

func newEncoder() *encoder {
	e := &encoder{}
	e.options = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.WithMarshalers(json.MarshalToFunc(e.hold)))
	return e
}

// placeholder is a value that never counts as empty, and so is never left out.
var placeholder = jsontext.True

// hold keeps a raw value back, because the library would remove its spaces.
func (e *encoder) hold(out *jsontext.Encoder, raw stdjson.RawMessage) error {
	if len(raw) == 0 {
		return errors.ErrUnsupported
	}
	if _, err := oneLine(raw); err != nil {
		return err
	}
	if err := out.WriteToken(placeholder); err != nil {
		return err
	}
	e.held = append(e.held, heldValue{end: int(out.OutputOffset()), raw: raw})
	return nil
}

func (e *encoder) encode(value any) ([]byte, error) {
	e.held = e.held[:0]
	text, err := json.Marshal(value, e.options)
	if err != nil || len(e.held) == 0 {
		return text, err
	}
	var whole bytes.Buffer
	from := 0
	for _, held := range e.held {
		whole.Write(text[from : held.end-len(placeholder.String())])
		whole.Write(held.raw)
		from = held.end
	}
	whole.Write(text[from:])
	return whole.Bytes(), nil
}

// oneLine returns a value without spaces between its parts, and so without line breaks.
func oneLine(raw []byte) ([]byte, error) {
	value := jsontext.Value(bytes.Clone(raw))
	err := value.Compact()
	return value, err
}
