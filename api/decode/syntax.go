package decode

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
)

// checkSyntax refuses a text that is not one JSON value in UTF-8, has a name twice in one object,
// or is nested too deep. It builds nothing of the text. It keeps eight bytes for each name of an
// open object.
func checkSyntax(text jsontext.Value) error {
	names := openNames{}
	err := walk(text, &names)
	if twice, ok := names.twice(); ok { // it came before what ended the walk
		return &wire.Error{Code: problems.Malformed, Message: "The body has a duplicate name" + atPointer(pointerToSecond(text, twice)) + "."}
	}
	return err
}

// visitor gets the names of a text, and the begins and ends of its objects.
type visitor interface {
	open()
	name(decoder *jsontext.Decoder, quoted jsontext.Value)
	// close reports whether the walk shall go on.
	close() bool
}

// walk reads a text token by token. Its error is a refusal.
func walk(text jsontext.Value, v visitor) error {
	decoder := decoderOf(text, jsontext.AllowDuplicateNames(true))
	for {
		depth := decoder.StackDepth()
		if depth > wire.MaxNesting {
			return nested(decoder)
		}
		if kind, length := decoder.StackIndex(depth); kind == '{' && length%2 == 0 && decoder.PeekKind() == '"' {
			name, err := decoder.ReadValue()
			if err != nil {
				return malformed(text, err)
			}
			v.name(decoder, name)
			continue
		}
		token, err := decoder.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return one(decoder)
		case err != nil:
			return malformed(text, err)
		case token.Kind() == '{':
			v.open()
		case token.Kind() == '}' && !v.close():
			return nil
		}
	}
}

// decoderOf reads a text in place: what it returns is a part of the text.
func decoderOf(text jsontext.Value, options ...jsontext.Options) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), options...)
}

// one refuses a text that has ended and is no value, or several.
func one(decoder *jsontext.Decoder) error {
	if _, values := decoder.StackIndex(0); values != 1 {
		return malformed(nil, nil)
	}
	return nil
}

// openNames are hashes of the names in the objects that are open, the innermost last.
type openNames struct {
	hashes []uint64
	begins []int // where the names of each object begin
	// found is a hash that occurs twice in one object.
	found  uint64
	seen   bool
	buffer []byte
}

var nameSeed = maphash.MakeSeed()

func (n *openNames) open() { n.begins = append(n.begins, len(n.hashes)) }

func (n *openNames) name(_ *jsontext.Decoder, quoted jsontext.Value) {
	n.hashes = append(n.hashes, n.hash(quoted))
}

func (n *openNames) hash(quoted jsontext.Value) uint64 {
	n.buffer, _ = jsontext.AppendUnquote(n.buffer[:0], quoted) // it was read
	return maphash.Bytes(nameSeed, n.buffer)
}

func (n *openNames) close() bool {
	last := len(n.begins) - 1
	names := n.hashes[n.begins[last]:]
	n.hashes, n.begins = n.hashes[:n.begins[last]], n.begins[:last]
	slices.Sort(names)
	for i := range len(names) - 1 {
		if names[i] == names[i+1] {
			n.found, n.seen = names[i], true
			return false
		}
	}
	return true
}

// twice is the hash of a name that stands twice in an object. The object may still be open.
func (n *openNames) twice() (hash uint64, ok bool) {
	for !n.seen && len(n.begins) > 0 && n.close() {
	}
	return n.found, n.seen
}

// pointerToSecond leads to the second member of one object whose name has a hash.
func pointerToSecond(text jsontext.Value, hash uint64) string {
	search := second{of: hash}
	_ = walk(text, &search) // the walk before came as far
	return search.pointer
}

// second looks for a name for the second time.
type second struct {
	openNames

	of      uint64
	had     []bool // by depth
	pointer string
}

func (s *second) open() { s.had = append(s.had, false) }

func (s *second) name(decoder *jsontext.Decoder, quoted jsontext.Value) {
	if s.hash(quoted) != s.of || s.pointer != "" {
		return
	}
	if innermost := &s.had[len(s.had)-1]; *innermost {
		s.pointer = string(decoder.StackPointer())
	} else {
		*innermost = true
	}
}

func (s *second) close() bool {
	s.had = s.had[:len(s.had)-1]
	return s.pointer == ""
}

// IsDeep reports whether arrays and objects are nested deeper than limit. It stops as soon as
// that is known: what else is wrong with a text shows when it is parsed.
func IsDeep(text []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// nested refuses a body that is nested too deep, and names the member at its limit.
func nested(decoder *jsontext.Decoder) error {
	member, _, _ := strings.Cut(strings.TrimPrefix(string(decoder.StackPointer()), "/"), "/")
	return &wire.Error{Code: problems.Malformed, Message: fmt.Sprintf(
		"The body is nested more than %d deep at %s.", wire.MaxNesting, wire.ShortPointer("/"+member))}
}

// malformed says where a body stops being JSON. It says why if a reader could not see it.
func malformed(text jsontext.Value, err error) error {
	message := "The body must be one JSON object."
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		what, where := fault(text, syntax), atPointer(string(syntax.JSONPointer))
		if where == "" {
			what = strings.TrimSuffix(what, ",") // the end of a clause before the place
		}
		message = "The body " + what + where + "."
	}
	return &wire.Error{Code: problems.Malformed, Message: message, Cause: err}
}

// fault is what is wrong with a text where an error was found.
func fault(text jsontext.Value, err *jsontext.SyntacticError) string {
	rest := text[min(max(err.ByteOffset, 0), int64(len(text))):]
	const escape = len(`\ud800`)
	switch {
	case isSurrogate(rest):
		return "has a lone surrogate, " + string(rest[:escape]) + ", which is half of a character,"
	case len(rest) > 0 && utf8.FullRune(rest) && !validStart(rest):
		return "is not UTF-8"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "has a duplicate name"
	default:
		return "is not valid JSON"
	}
}

// isSurrogate reports whether a text begins with the escape of one half of a pair.
func isSurrogate(text jsontext.Value) bool {
	return len(text) >= len(`\ud800`) && text[0] == '\\' && text[1] == 'u' && (text[2] == 'd' || text[2] == 'D') &&
		strings.ContainsRune("89abcdefABCDEF", rune(text[3])) && isHex(text[4]) && isHex(text[5])
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func validStart(text []byte) bool {
	r, size := utf8.DecodeRune(text)
	return r != utf8.RuneError || size > 1
}

func atPointer(pointer string) string {
	if pointer == "" {
		return ""
	}
	return " at " + wire.ShortPointer(pointer)
}
