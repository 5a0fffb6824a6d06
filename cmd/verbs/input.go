package verbs

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/cmd/program"
)

// documentForms describes a document on a command line.
const documentForms = "JSON, or @FILE, or - for standard input"

// document reads a document from a command line. what names it in an error.
func (s *shell) document(what, text string) (stdjson.RawMessage, error) {
	raw := []byte(text)
	name, isFile := strings.CutPrefix(text, "@")
	if isFile || text == "-" {
		file, err := s.open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		if raw, err = io.ReadAll(file); err != nil {
			return nil, program.Wrong(err)
		}
	}
	raw = bytes.TrimSpace(raw)
	if !stdjson.Valid(raw) {
		return nil, program.Wrong(fmt.Errorf(`%s must be %s, such as '{"order": 4711}'; a text needs the quotes of JSON`, what, documentForms))
	}
	return raw, nil
}

// open opens a file of the command line; "-" is standard input.
func (s *shell) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.In), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, program.Wrong(err)
	}
	return file, nil
}

// fill decodes a document into a value.
func (s *shell) fill(what, text string, into any) error {
	raw, err := s.document(what, text)
	if err != nil {
		return err
	}
	if err := readStrictly(raw, into); err != nil {
		return program.Wrong(fmt.Errorf("%s: %w", what, err))
	}
	return nil
}

// strictly has JSON read as the API reads it. What is unknown, said twice or null is refused: it
// would be lost before the API sees it.
var strictly = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))

var errNull = errors.New("must not be null")

// refuseNull refuses null for all but a raw value, which may be a payload.
func refuseNull(from *jsontext.Decoder, into any) error {
	switch into.(type) {
	case *stdjson.RawMessage, *jsontext.Value:
	default:
		if from.PeekKind() == 'n' {
			return errNull
		}
	}
	return errors.ErrUnsupported
}

// readStrictly decodes one JSON value. Its error names the member that is wrong.
func readStrictly(text []byte, into any) error {
	err := json.Unmarshal(text, into, strictly)
	wrong, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("%s is not a field", wrong.JSONPointer)
	case wrong.Err == nil:
		return fmt.Errorf("%s has the wrong type", wrong.JSONPointer)
	default:
		return fmt.Errorf("%s %w", wrong.JSONPointer, wrong.Err)
	}
}

// longestLine exceeds the longest line that the API accepts, in bytes.
const longestLine = 1 << 20

// lines reads values from a file of one JSON object a line. It skips blank lines.
func lines[T any](name string, file io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		scanner := bufio.NewScanner(file)
		scanner.Buffer(nil, longestLine)
		number := 0
		for scanner.Scan() {
			number++
			if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
				continue
			}
			var value T
			if err := readStrictly(scanner.Bytes(), &value); err != nil {
				yield(value, fmt.Errorf("%s: line %d: %w", name, number, err))
				return
			}
			if !yield(value, nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			var none T
			yield(none, fmt.Errorf("%s: line %d: %w", name, number+1, err))
		}
	}
}

// allLines reads a whole file of lines.
func allLines[T any](s *shell, name string) (all []T, err error) {
	file, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	for value, err := range lines[T](name, file) {
		if err != nil {
			return nil, program.Wrong(err)
		}
		all = append(all, value)
	}
	return all, nil
}

// collect reads a list up to a limit; 0 for all.
func collect[T any](list iter.Seq2[T, error], limit int) (all []T, err error) {
	for item, err := range list {
		if err != nil {
			return nil, err
		}
		if all = append(all, item); len(all) == limit {
			break
		}
	}
	return all, nil
}
