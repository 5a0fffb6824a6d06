package identity

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/core/wire"
)

// actsFor separates a process from the author of the change that it makes.
const actsFor = " for "

// maxIdentity is the longest identity that Temporal accepts by default, in bytes
// (limit.maxIDLength).
const maxIdentity = 1000

// With returns the identity of a process that makes a change for an actor. Temporal stores it in
// the event that records the change. It cuts a name that is too long for Temporal; the record of
// the call has the whole name.
func With(process string, actor wire.Actor) string {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	text := w.write(process, actor)
	for len(text) > maxIdentity {
		longest := &w.actor.Name
		if len(w.actor.ID) > len(*longest) {
			longest = &w.actor.ID
		}
		if *longest == "" {
			return process
		}
		*longest = firstHalf(*longest)
		text = w.write(process, w.actor)
	}
	return string(text)
}

// firstHalf returns the first half of a text, in whole characters.
func firstHalf(text string) string {
	n := len(text) / 2
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Parse is the inverse of [With]. The actor is nil if the identity names none.
func Parse(identity string) (process string, actor *wire.Actor) {
	process, text, found := strings.Cut(identity, actsFor+"{")
	if !found {
		return identity, nil
	}
	actor = new(wire.Actor)
	if json.Unmarshal([]byte("{"+text), actor) != nil || actor.By == "" {
		return identity, nil
	}
	return process, actor
}

// Process returns the process in an identity, without the actor.
func Process(identity string) string {
	process, _ := Parse(identity)
	return process
}

// writer is a reusable encoder. Every booking writes an identity, and only the result is
// allocated.
type writer struct {
	buffer bytes.Buffer
	actor  wire.Actor
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// write returns the identity. It is valid until the next call.
func (w *writer) write(process string, actor wire.Actor) []byte {
	w.actor = actor
	w.buffer.Reset()
	w.buffer.WriteString(process)
	w.buffer.WriteString(actsFor)
	// A buffer accepts every write, and invalid UTF-8 is replaced.
	_ = json.MarshalWrite(&w.buffer, &w.actor, jsontext.AllowInvalidUTF8(true))
	return w.buffer.Bytes()
}
