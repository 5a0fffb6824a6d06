package calls

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/words"
)

// Failure is why an attempt failed.
type Failure struct {
	Status int    `json:"status"`
	Class  string `json:"class"`
	// Message is in the API's own words, or has those of the receiver.
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// The classes of failures that the receiver explains itself.
const (
	classAnswered = "http"
	classNacked   = "nacked"
)

// Short is a failure in a word: the status of the answer, or its class.
func (f *Failure) Short(in words.Speech) string {
	switch {
	case f == nil:
		return "-"
	case f.Status != 0:
		return f.status()
	default:
		return classIn(in, f.Class)
	}
}

// Kind is how it failed: the status of the answer, if there was one, and its class.
func (f *Failure) Kind(in words.Speech) string {
	if f == nil || f.Status == 0 || f.Class == "" || f.Class == classAnswered {
		return f.Short(in)
	}
	return f.status() + " " + classIn(in, f.Class)
}

// Like reports whether another one is of the same kind.
func (f *Failure) Like(other *Failure) bool {
	if f == nil || other == nil {
		return f == other
	}
	return f.Status == other.Status && f.Class == other.Class
}

// Says is what the message says beyond that; "" for nothing.
func (f *Failure) Says() string {
	said := strings.TrimPrefix(f.Message, f.Class+": ")
	if said == f.Class || said == f.status() || said == classIn(words.Speech{Lang: words.English}, f.Class) {
		return ""
	}
	return said
}

// ByReceiver reports whether the receiver may have said that, in whatever language.
func (f *Failure) ByReceiver() bool { return f.Class == classAnswered || f.Class == classNacked }

func (f *Failure) status() string { return "HTTP " + strconv.Itoa(f.Status) }

// classIn is a class in words. None is that of what was no call; one that is not known is itself.
func classIn(in words.Speech, class string) string {
	key := "class." + cmp.Or(class, "none")
	if text := in.T(key); text != key {
		return text
	}
	return class
}

// How is how an attempt ended, by its status and class; "" for one that has neither.
func (a Attempt) How(in words.Speech) string {
	if a.Status == 0 && a.Class == "" {
		return ""
	}
	return (&Failure{Status: a.Status, Class: a.Class}).Kind(in)
}

// How is how the attempt failed, in a word; "" for a fact of none.
func (f Fact) How(in words.Speech) string {
	if f.Status == 0 && f.Class == "" {
		return ""
	}
	return (&Failure{Status: f.Status, Class: f.Class}).Short(in)
}
