package decode

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/core/fields"
	"github.com/wakecall/wakecall/core/wire"
)

// Fill sets the fields of the struct at dst from an object's members. It names every member that
// does not fit; encoding/json would stop at the first. Null fits nothing but a raw JSON value.
func (o Object) Fill(dst any) (errs wire.FieldErrors) {
	fields := Fields(reflect.ValueOf(dst).Elem())
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if errs.Full() { // no answer names more
			break
		}
		field, known := fields[name]
		switch {
		case known:
		case len(name) > wire.MaxPointer: // it is not repeated, and not copied
			errs.Add("", wire.CodeUnknownField, "has a name that is too long to repeat here and is not a field of this call")
			continue
		default:
			errs.Add(PointerTo(name), wire.CodeUnknownField, "is not a field of this call")
			continue
		}
		errs.Under(PointerTo(name), fillValue(o[name], field, limitOf(name)))
	}
	return errs
}

var lists = fields.Lists()

// limitOf is the bound of the list, or of the object of free names, that a field holds.
func limitOf(name string) wire.List {
	if list, ok := lists[name]; ok {
		return list
	}
	return wire.List{Name: name, Most: limits.MaxElements, Of: "elements"}
}

// PointerTo returns the RFC 6901 pointer to a member.
func PointerTo(name string) string { return string(jsontext.Pointer("").AppendToken(name)) }

// Fields maps the JSON names of a struct to its fields, those of embedded
// structs included.
func Fields(v reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value, 2*v.NumField())
	addFields(fields, v)
	return fields
}

func addFields(fields map[string]reflect.Value, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			addFields(fields, v.Field(i))
		case name != "" && name != "-":
			fields[name] = v.Field(i)
		}
	}
}

var rawType = reflect.TypeFor[jsontext.Value]()

func fillValue(raw jsontext.Value, dst reflect.Value, list wire.List) (errs wire.FieldErrors) {
	if raw.Kind() == 'n' && dst.Type() != rawType {
		errs.Add("", wire.CodeInvalidType, "must not be null")
		return errs
	}
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		return fillValue(raw, dst.Elem(), list)
	}
	switch kind := dst.Kind(); {
	case dst.Type() == rawType: // a part of the body, which was checked
		dst.SetBytes(raw)
		return nil
	case kind == reflect.Struct:
		return fillStruct(raw, dst)
	case kind == reflect.Slice:
		return fillSlice(raw, dst, list)
	case kind == reflect.Map:
		return fillMap(raw, dst, list)
	}
	if err := readScalar(raw, dst.Addr().Interface()); err != nil {
		errs = append(errs, misread(dst.Type(), raw))
	}
	return errs
}

// misread says what a value should have been. For a time given as a number it names the moment.
func misread(want reflect.Type, raw jsontext.Value) wire.FieldError {
	wrong := mistyped(want)
	if want == reflect.TypeFor[wire.Instant]() {
		wrong.Detail = wire.InstantRefusal(string(raw))
	}
	return wrong
}

// readScalar reads what is neither an object nor a list. How a number is written does not
// tell whether it is an integer: 3.0 and 1e2 are.
func readScalar(raw jsontext.Value, dst any) error {
	if kind := raw.Kind(); kind == '{' || kind == '[' { // it would be read whole
		return strconv.ErrSyntax
	}
	switch number := dst.(type) {
	case *int:
		var ok bool
		if *number, ok = integer(raw); !ok {
			return strconv.ErrSyntax
		}
		return nil
	case *float64:
		var err error
		*number, err = decimal(raw)
		return err
	default:
		return json.Unmarshal(raw, dst)
	}
}

func fillStruct(raw jsontext.Value, dst reflect.Value) (errs wire.FieldErrors) {
	members, more, err := membersOf(raw, limits.MaxMembers)
	switch {
	case err != nil || members == nil:
		return wire.FieldErrors{mistyped(dst.Type())}
	case more:
		errs.AddMost("", limits.MaxMembers, "members")
		return errs
	}
	return members.Fill(dst.Addr().Interface())
}

// fillSlice looks at the elements of no list that is too long: nothing of one is built.
func fillSlice(raw jsontext.Value, dst reflect.Value, list wire.List) (errs wire.FieldErrors) {
	items, more, err := Elements(raw, list.Most)
	if err != nil || items == nil || more {
		dst.Set(reflect.MakeSlice(dst.Type(), 0, 0)) // it was given, and is not missed
	}
	switch {
	case err != nil || items == nil:
		return wire.FieldErrors{mistyped(dst.Type())}
	case more:
		return wire.FieldErrors{list.FieldError("")}
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(items), len(items)))
	for i, item := range items {
		errs.Under("/"+strconv.Itoa(i), fillValue(item, dst.Index(i), wire.List{}))
	}
	return errs
}

func fillMap(raw jsontext.Value, dst reflect.Value, list wire.List) (errs wire.FieldErrors) {
	members, more, err := membersOf(raw, list.Most)
	switch {
	case err != nil || members == nil:
		return wire.FieldErrors{mistyped(dst.Type())}
	case more:
		return wire.FieldErrors{list.FieldError("")}
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := reflect.New(dst.Type().Elem()).Elem()
		errs.Under(PointerTo(name), fillValue(members[name], value, wire.List{}))
		dst.SetMapIndex(reflect.ValueOf(name), value)
	}
	return errs
}

// mistyped says what a value should have been.
func mistyped(want reflect.Type) wire.FieldError {
	switch want {
	case reflect.TypeFor[wire.Instant]():
		return wire.FieldError{Code: wire.CodeInvalidTime, Detail: wire.InstantForm}
	case reflect.TypeFor[wire.Wall]():
		return wire.FieldError{Code: wire.CodeInvalidTime, Detail: wire.WallForm}
	case reflect.TypeFor[wire.Duration]():
		return wire.FieldError{Code: wire.CodeInvalidDuration, Detail: wire.DurationForm}
	}
	return wire.FieldError{Code: wire.CodeInvalidType, Detail: "must be " + kindWords[want.Kind()]}
}

// kindWords names the JSON form of every kind that a wire struct uses.
var kindWords = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "an array",
	reflect.Int: "an integer", reflect.Int64: "an integer", reflect.Float64: "a number", reflect.Bool: "true or false",
}

// Value returns what a pointer points to, or the zero value.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Unknown names the members that a type does not have. It includes members that are null: a
// patch that removes an unknown field has misspelt it.
func (o Object) Unknown(body reflect.Type) (errs wire.FieldErrors) {
	fields := Fields(reflect.New(body).Elem())
	for _, name := range slices.Sorted(maps.Keys(o)) {
		field, known := fields[name]
		if !known {
			errs.Add(PointerTo(name), wire.CodeUnknownField, "is not a field of this call")
			continue
		}
		within := field.Type()
		if within.Kind() == reflect.Pointer {
			within = within.Elem()
		}
		if within.Kind() == reflect.Struct && o[name].Kind() == '{' {
			errs.Under(PointerTo(name), o.Nested(name).Unknown(within))
		}
	}
	return errs
}
