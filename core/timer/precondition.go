package timer

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// HeaderIfMatch is the header with the precondition of a change (RFC 9110, section 13.1.1). It
// is also the pointer of the field error if that does not hold.
const HeaderIfMatch = "If-Match"

// AnyTag is met by every timer.
const AnyTag = "*"

// Tag returns the timer's ETag: its revision, and a digest of its booking, because the revisions
// of every booking of an id begin at 1. Attempts and occurrences do not change it.
func (m Memo) Tag() string {
	sum := sha256.Sum256([]byte(m.Booking))
	return strconv.Itoa(m.Revision) + "-" + hex.EncodeToString(sum[:4])
}

// SameBooking reports whether a tag belongs to this booking, at any revision.
func (m Memo) SameBooking(tag string) bool {
	_, booking, _ := strings.Cut(tag, "-")
	_, own, _ := strings.Cut(m.Tag(), "-")
	return booking == own
}

// MatchesTag reports whether a precondition holds: the tag is the timer's Tag, or its
// revision alone. It holds for every timer if it is empty or [AnyTag].
func (m Memo) MatchesTag(tag string) bool {
	return tag == "" || tag == AnyTag || tag == m.Tag() || tag == strconv.Itoa(m.Revision)
}

// Unmet returns the error of a change whose precondition does not hold. now is the timer's
// present state, nil if unknown.
func Unmet(now *View) error {
	return &wire.Error{
		Code: wire.PreconditionFailed, State: now, Message: "The revision of the timer is not the one in If-Match.",
		FieldErrors: wire.FieldErrors{{Pointer: HeaderIfMatch, Code: wire.CodeConflict, Detail: "must be the current ETag of the timer"}},
	}
}
