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
	// Check adds what is wrong with the parsed values.
	Check(f *Faults)
}

// Read fills settings from the environment. Its error has a line for every wrong variable, and
// for every unknown name that begins with WAKECALL_.
func Read(settings ...Settings) error {
	environment := env.ToMap(os.Environ())
	f := &Faults{files: map[string]string{}}
	f.read(environment, settings)
	f.addUnknown(environment, settings)
	return f.err()
}

// ReadClient fills the settings of a client. Its environment may also contain those of a server.
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

// variable is the source of one field.
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

// Faults collects errors by variable.
type Faults struct {
	wrong map[string]error
	// files are the files from which variables were read.
	files map[string]string
}

// Add records an error of a variable, with its name in front. Only the first error of a variable
// counts: an unreadable value is not checked further.
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

// Has reports whether a variable has an error.
func (f *Faults) Has(variable string) bool { return f.wrong[variable] != nil }

// err returns one line for each variable, sorted by name.
func (f *Faults) err() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(f.wrong)) {
		all = append(all, f.wrong[name])
	}
	return errors.Join(all...)
}

// fileSuffix ends the name of a variable that names a secret's file.
const fileSuffix = "_FILE"

// load reads the secrets in files. A file may end in a line break, and have one between the
// entries of a list.
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
