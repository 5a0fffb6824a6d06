package decode

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/core/wire"
)

// Zero is not absent. The core's types cannot tell a zero that a client says from a
// field that it leaves out, so a zero that is refused has to be found in the body.

// ZeroFields are the fields that refuse a zero, by the object of the body that
// has them; "" is the body itself.
type ZeroFields map[string][]wire.Field

// RefusingZero are those of the fields that refuse a zero.
func RefusingZero(fields []wire.Field) ZeroFields {
	refusing := ZeroFields{}
	for _, field := range fields {
		if field.RefusesZero() {
			object, _ := split(field.Pointer)
			refusing[object] = append(refusing[object], field)
		}
	}
	return refusing
}

// split takes the pointer to a field apart: the object in the body that has the field,
// "" for the body itself, and the field's name.
func split(pointer string) (object, name string) {
	if object, name, within := strings.Cut(pointer[1:], "/"); within {
		return object, name
	}
	return "", pointer[1:]
}

// Zeros names every value of a body that is zero or an empty text, in a field that refuses it.
func (o Object) Zeros(fields ZeroFields) (errs wire.FieldErrors) {
	for object, fields := range fields {
		members := o.Nested(object)
		for _, field := range fields {
			_, name := split(field.Pointer)
			if raw, said := members[name]; said && isZero(raw, field) {
				errs = append(errs, field.FieldError())
			}
		}
	}
	slices.SortFunc(errs, func(a, b wire.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return errs
}

// Nested is a member that is an object, or the body itself; nil for anything
// else, which is named when the body is read.
func (o Object) Nested(name string) Object {
	if name == "" {
		return o
	}
	raw, said := o[name]
	if !said { // the rule: most bodies hold no object, and nothing shall be allocated for it
		return nil
	}
	return ParseNested(raw)
}

// ParseNested reads an object within a body that was checked; nil for what is none.
func ParseNested(raw jsontext.Value) Object {
	members, more, err := membersOf(raw, limits.MaxMembers)
	if err != nil || more {
		return nil
	}
	return members
}

func isZero(raw jsontext.Value, field wire.Field) bool {
	value := reflect.New(reflect.TypeOf(field.Empty()))
	if raw.Kind() == 'n' || readScalar(raw, value.Interface()) != nil {
		return false // what cannot be read is named when the body is read
	}
	return value.Elem().Interface() == field.Empty()
}
