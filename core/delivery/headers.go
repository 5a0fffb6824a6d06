package delivery

import (
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Hidden replaces a hidden value.
const Hidden = "***"

// KeptHeaders names the headers to keep, the stored ones that no key opens, and their place in a
// policy.
type KeptHeaders struct {
	Names, Unopened []string
	Pointer         func(name string) string
	// Stored is the place of a stored header. It is Pointer unless the links changed places.
	Stored func(name string) string
}

// KeepHeaders gives headers their values in old. It refuses a header that old lacks, and a value
// meant for another origin.
func (c *Callback) KeepHeaders(old Callback, k KeptHeaders) (errs wire.FieldErrors) {
	same := c.sameOrigin(old.Destination)
	for _, name := range slices.Sorted(slices.Values(k.Names)) {
		stored, ok := named(old.Headers, name)
		value, pointer := old.Headers[stored], k.Pointer(name)
		switch {
		case !ok:
			errs.Add(pointer, wire.CodeRequired, "needs a value: "+Hidden+" keeps a stored value, and none is stored")
		case !same:
			errs.Add(pointer, wire.CodeConflict, "is kept only for the same scheme, host and port: give its value again, or remove the header")
		case slices.Contains(k.Unopened, k.Stored(stored)):
			errs.Add(pointer, wire.CodeConflict, "cannot be kept, because no configured secret key opens it: give it again, "+ConfigureKey)
		default:
			c.Headers[name] = value
		}
	}
	return errs
}

// ConfigureKey ends the refusal of a value that no secret key opens.
const ConfigureKey = "or configure the key in WAKECALL_SECRET_KEY"

// HeaderPointer returns the place of a header in a policy or a timer.
func HeaderPointer(name string) string { return "/callback/headers/" + wire.EscapePointer(name) }

// FallbackHeaderPointer returns the place of a header in the fallback of a policy.
func FallbackHeaderPointer(name string) string {
	return "/fallback/headers/" + wire.EscapePointer(name)
}
