package verbs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/wakecall/wakecall/cmd/program"
)

// documentForms describes a document on a command line.
const documentForms = "JSON, or @FILE, or - for standard input"

// document reads a document from a command line. what names it in an error.
func (s *shell) document(what, text string) (json.RawMessage, error) {
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
	if !json.Valid(raw) {
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

// fill decodes a document into a value, and refuses unknown fields.
func (s *shell) fill(what, text string, into any) error {
	raw, err := s.document(what, text)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return program.Wrong(fmt.Errorf("%s: %w", what, err))
	}
	return nil
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
			decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&value); err != nil {
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
