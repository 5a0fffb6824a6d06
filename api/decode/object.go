package decode

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/core/wire"
)

// Object is a JSON object whose members are not looked at yet. They are parts of the text
// that it was read from.
type Object map[string]jsontext.Value

// Parse reads a whole body.
func Parse(body jsontext.Value) (Object, error) {
	if err := checkSyntax(body); err != nil {
		return nil, err
	}
	return ParseMembers(body)
}

// ParseMembers is parseObject where the members are checked later.
func ParseMembers(body jsontext.Value) (Object, error) {
	members, more, err := membersOf(body, limits.MaxMembers)
	switch {
	case err != nil:
		return nil, malformed(body, err)
	case members == nil:
		return nil, malformed(body, nil)
	case more:
		var errs wire.FieldErrors
		errs.AddMost("", limits.MaxMembers, "members")
		return nil, errs.Err()
	}
	return members, nil
}

// unchecked reads what is checked elsewhere, or was.
var unchecked = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// membersOf returns the members of an object, up to most of them; nil for anything else. more
// reports whether there are others. Nothing is built of those.
func membersOf(raw jsontext.Value, most int) (members Object, more bool, err error) {
	decoder := decoderOf(raw, unchecked...)
	token, err := decoder.ReadToken()
	if err != nil || token.Kind() != '{' {
		return nil, false, err
	}
	members = Object{}
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

// Elements returns the elements of an array, up to most of them; nil for anything else. more
// reports whether there are others. Nothing is built of those.
func Elements(raw jsontext.Value, most int) (elements []jsontext.Value, more bool, err error) {
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

var errBehind = errors.New("there is more data after the value")

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
