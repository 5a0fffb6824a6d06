package timer

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// HeaderIfMatch is the header that says what a change is made on (RFC 9110,
// section 13.1.1), and the pointer of the field error of one that does not hold.
const HeaderIfMatch = "If-Match"

// AnyTag is met by every timer.
const AnyTag = "*"

// Tag names what a client can change about a timer: its revision, and which
// booking of the id that is one of. Attempts and occurrences leave it as it is.
func (c Memo) Tag() string {
	sum := sha256.Sum256([]byte(c.Booking))
	return strconv.Itoa(c.Revision) + "-" + hex.EncodeToString(sum[:4])
}

// Meets is whether the timer is what a change was made on: a Tag, or a revision
// of whichever booking. Nothing and [AnyTag] are met by every timer.
func (c Memo) Meets(tag string) bool {
	return tag == "" || tag == AnyTag || tag == c.Tag() || tag == strconv.Itoa(c.Revision)
}

// Unmet refuses a change that was made on something else than the timer is now.
func Unmet(now *View) error {
	return &Error{
		Code: PreconditionFailed, Timer: now, Message: "The timer has another revision than If-Match names.",
		FieldErrors: FieldErrors{{Pointer: HeaderIfMatch, Code: CodeConflict, Detail: "must be the ETag of the timer as it is"}},
	}
}
