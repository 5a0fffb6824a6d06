package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Settings is a pointer to a struct whose fields are tagged like those of [Config].
type Settings interface {
	// Check adds what is wrong with the values that could be read.
	Check(f *Faults)
}

// Read fills settings from the environment. Its error has a line for every
// variable that is wrong, and for every name that begins with WAKECALL_ and that
// nobody reads.
func Read(settings ...Settings) error {
	environment := env.ToMap(os.Environ())
	f := &Faults{files: map[string]string{}}
	f.read(environment, settings)
	f.strangers(environment, settings)
	return f.err()
}

// ReadClient fills the settings of a client, in whose environment those of a
// server may stand as well.
func ReadClient(settings Settings) error {
	f := &Faults{files: map[string]string{}}
	f.read(env.ToMap(os.Environ()), []Settings{settings})
	return f.err()
}

func (f *Faults) read(environment map[string]string, settings []Settings) {
	for _, s := range settings {
		own := variables(s)
		f.load(environment, own)
		f.fill(environment, s, own)
	}
	for _, s := range settings {
		s.Check(f)
	}
}

// variable is what one field is read from.
type variable struct {
	field, name string
	secret      bool
}

func variables(s Settings) (found []variable) {
	for field := range reflect.TypeOf(s).Elem().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			found = append(found, variable{field.Name, name, field.Tag.Get("secret") == "true"})
		}
	}
	return found
}

// Faults collects what is wrong, by variable.
type Faults struct {
	wrong map[string]error
	// files are the names of variables that were read from files.
	files map[string]string
}

// Add notes what is wrong with a variable, which is named in front of it. Of
// several faults the first one stays: a value that cannot be read is not judged.
func (f *Faults) Add(variable, format string, args ...any) {
	if f.Has(variable) {
		return
	}
	if f.wrong == nil {
		f.wrong = map[string]error{}
	}
	name := variable
	if file, ok := f.files[variable]; ok {
		name = variable + fileSuffix + ": " + file
	}
	f.wrong[variable] = fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
}

// Has reports whether something is wrong with a variable.
func (f *Faults) Has(variable string) bool { return f.wrong[variable] != nil }

// err has one line for each variable, sorted by name.
func (f *Faults) err() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(f.wrong)) {
		all = append(all, f.wrong[name])
	}
	return errors.Join(all...)
}

// fileSuffix is what the name of a variable ends in that names a secret's file.
const fileSuffix = "_FILE"

// load takes the secrets that stand in files. A file may end in a line break,
// and have one between the entries of a list.
func (f *Faults) load(environment map[string]string, own []variable) {
	for _, v := range own {
		file := environment[v.name+fileSuffix]
		if !v.secret || file == "" {
			continue
		}
		if environment[v.name] != "" {
			f.Add(v.name, "%s%s is set as well: set one of the two", v.name, fileSuffix)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			f.Add(v.name+fileSuffix, "%w", err)
			continue
		}
		f.files[v.name] = file
		if environment[v.name] = strings.Join(strings.Fields(string(text)), ","); environment[v.name] == "" {
			f.Add(v.name, "the file is empty")
		}
	}
}

// fill reads the values of one struct.
func (f *Faults) fill(environment map[string]string, into Settings, own []variable) {
	err := env.ParseWithOptions(into, env.Options{Environment: environment, FuncMap: parsers})
	if err == nil {
		return
	}
	all := []error{err}
	if several, ok := errors.AsType[env.AggregateError](err); ok {
		all = several.Errors
	}
	for _, err := range all {
		parse, ok := errors.AsType[env.ParseError](err)
		at := slices.IndexFunc(own, func(v variable) bool { return ok && v.field == parse.Name })
		if at < 0 {
			f.Add("WAKECALL_", "%w", err)
			continue
		}
		f.Add(own[at].name, "%w", parse.Err)
	}
}
