package timer

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// HeaderIfMatch is the header that says what a change is made on (RFC 9110,
// section 13.1.1), and the pointer of the field error of one that does not hold.
const HeaderIfMatch = "If-Match"

// AnyTag is met by every timer.
const AnyTag = "*"

// Tag is the timer's ETag: its revision, and a digest of its booking, because the
// revisions of every booking of an id begin at 1. Attempts and occurrences leave it as
// it is.
func (m Memo) Tag() string {
	sum := sha256.Sum256([]byte(m.Booking))
	return strconv.Itoa(m.Revision) + "-" + hex.EncodeToString(sum[:4])
}

// SameBooking reports whether a tag is of this booking, at whatever revision.
func (m Memo) SameBooking(tag string) bool {
	_, booking, _ := strings.Cut(tag, "-")
	_, own, _ := strings.Cut(m.Tag(), "-")
	return booking == own
}

// Meets reports whether a precondition holds: the tag is the timer's Tag, or its
// revision alone. It holds for every timer if it is empty or [AnyTag].
func (m Memo) Meets(tag string) bool {
	return tag == "" || tag == AnyTag || tag == m.Tag() || tag == strconv.Itoa(m.Revision)
}

// Unmet is the error of a change whose precondition does not hold; now is the timer
// as it is, nil where that is not known.
func Unmet(now *View) error {
	return &wire.Error{
		Code: wire.PreconditionFailed, State: now, Message: "The timer has another revision than If-Match names.",
		FieldErrors: wire.FieldErrors{{Pointer: HeaderIfMatch, Code: wire.CodeConflict, Detail: "must be the ETag of the timer as it is"}},
	}
}
