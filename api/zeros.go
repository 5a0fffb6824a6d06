package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Zero is not absent. The core's types cannot tell a zero that a client says from a
// field that it leaves out, so a zero that is refused has to be found in the body.
var (
	termsZeros    = refusingZero(timer.Fields())
	policyZeros   = refusingZero(policy.Fields())
	dispatchZeros = refusingZero(dispatch.Fields())
	previewZeros  = zeroFields{"recurrence": termsZeros["recurrence"]}
)

// zeroFields are the fields that refuse a zero, by the object of the body that
// has them; "" is the body itself.
type zeroFields map[string][]wire.Field

func refusingZero(fields []wire.Field) zeroFields {
	refusing := zeroFields{}
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

// zeros names every value of a body that is said to be zero, or an empty text,
// where that is refused.
func (o object) zeros(fields zeroFields) (errs wire.FieldErrors) {
	for object, fields := range fields {
		members := o.object(object)
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

// object is a member that is an object, or the body itself; nil for anything
// else, which is named when the body is read.
func (o object) object(name string) object {
	if name == "" {
		return o
	}
	raw, said := o[name]
	if !said { // the rule: most bodies hold no object, and nothing shall be allocated for it
		return nil
	}
	return objectIn(raw)
}

func objectIn(raw jsontext.Value) object {
	members, more, err := membersOf(raw, maxMembers)
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
