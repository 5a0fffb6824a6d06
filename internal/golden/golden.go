// Package golden compares JSON stored in Temporal with files that never change. Every later
// release must read the values stored by an earlier one. It is for tests.
package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Check compares the stored form of a type with testdata/stored/{name}.golden.json. Every field
// of full must have a value, so that a new field must also be added to the file. Names in the
// file may be added but never changed: timers are stored for years.
func Check[T any](t *testing.T, name string, full T) {
	t.Helper()
	CheckBut(t, name, full)
}

// CheckBut is [Check] of a value in which some fields, named by their path, need no value,
// because another file covers them.
func CheckBut[T any](t *testing.T, name string, full T, elsewhere ...string) {
	t.Helper()
	file := filepath.Join("testdata", "stored", name+".golden.json")
	text, err := os.ReadFile(file)
	if err != nil {
		stored, _ := json.MarshalIndent(full, "", "  ")
		t.Errorf("%v; it is to hold\n%s", err, stored)
		return
	}
	if err := Verify(text, full, elsewhere...); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// Verify returns the differences between the stored text and the value:
//
//   - the text, decoded, differs from the value
//   - the value, encoded, differs from the text
//   - a field of the value is zero, and not in elsewhere
func Verify[T any](text []byte, full T, elsewhere ...string) error {
	errs := []error{}
	for _, path := range zeros(reflect.ValueOf(full), "") {
		if slices.Contains(elsewhere, path) {
			continue
		}
		errs = append(errs, fmt.Errorf("%s has no value: give it one, and add it to the file", path))
	}
	var read T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		errs = append(errs, fmt.Errorf("reading: %w", err))
	} else if !reflect.DeepEqual(read, full) {
		errs = append(errs, fmt.Errorf("is read as another value:\n%+v\nand not\n%+v", read, full))
	}
	written, err := json.MarshalIndent(full, "", "  ")
	if err != nil {
		errs = append(errs, err)
	} else if !bytes.Equal(bytes.TrimSpace(text), written) {
		errs = append(errs, fmt.Errorf("is written as\n%s", written))
	}
	return errors.Join(errs...)
}

// zeros lists the paths of stored fields without a value.
func zeros(v reflect.Value, path string) (paths []string) {
	if v.IsZero() {
		return []string{path}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return zeros(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() && !strings.HasPrefix(field.Tag.Get("json"), "-") {
				paths = append(paths, zeros(v.Field(i), path+"."+field.Name)...)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return []string{path}
		}
		for i := range v.Len() {
			paths = append(paths, zeros(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Map:
		if v.Len() == 0 {
			return []string{path}
		}
		for _, key := range v.MapKeys() {
			paths = append(paths, zeros(v.MapIndex(key), fmt.Sprintf("%s[%v]", path, key))...)
		}
	default: // a plain value, not zero
	}
	return paths
}
