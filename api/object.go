package api

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/core/wire"
)

// object is a JSON object whose members are not looked at yet. They are parts of the text
// that it was read from.
type object map[string]jsontext.Value

// parseObject reads a whole body.
func parseObject(body jsontext.Value) (object, error) {
	if err := checkSyntax(body); err != nil {
		return nil, err
	}
	return parseMembers(body)
}

// parseMembers is parseObject where the members are checked later.
func parseMembers(body jsontext.Value) (object, error) {
	members, more, err := membersOf(body, maxMembers)
	switch {
	case err != nil:
		return nil, malformed(body, err)
	case members == nil:
		return nil, malformed(body, nil)
	case more:
		var errs wire.FieldErrors
		errs.AddMost("", maxMembers, "members")
		return nil, errs.Err()
	}
	return members, nil
}

// unchecked reads what is checked elsewhere, or was.
var unchecked = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// membersOf are the members of an object, up to most of them; nil for what is none. It
// reports whether there are more, of which nothing is built.
func membersOf(raw jsontext.Value, most int) (members object, more bool, err error) {
	decoder := decoderOf(raw, unchecked...)
	token, err := decoder.ReadToken()
	if err != nil || token.Kind() != '{' {
		return nil, false, err
	}
	members = object{}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, false, err
		}
		if len(members) >= most {
			return members, true, nil
		}
		key := name.String()
		if _, twice := members[key]; twice {
			return nil, false, &jsontext.SyntacticError{JSONPointer: decoder.StackPointer(), Err: jsontext.ErrDuplicateName}
		}
		if members[key], err = decoder.ReadValue(); err != nil {
			return nil, false, err
		}
	}
	return members, false, ended(decoder)
}

// elementsOf are the elements of an array, up to most of them; nil for what is none. It
// reports whether there are more, of which nothing is built.
func elementsOf(raw jsontext.Value, most int) (elements []jsontext.Value, more bool, err error) {
	decoder := decoderOf(raw, unchecked...)
	token, err := decoder.ReadToken()
	if err != nil || token.Kind() != '[' {
		return nil, false, err
	}
	elements = []jsontext.Value{}
	for decoder.PeekKind() != ']' {
		if len(elements) >= most {
			return elements, true, nil
		}
		element, err := decoder.ReadValue()
		if err != nil {
			return nil, false, err
		}
		elements = append(elements, element)
	}
	return elements, false, ended(decoder)
}

var errBehind = errors.New("something stands behind the value")

// ended reads the end of an object or an array, behind which nothing may stand.
func ended(decoder *jsontext.Decoder) error {
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	switch _, err := decoder.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return errBehind
	}
}
