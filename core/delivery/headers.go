package delivery

import (
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Hidden stands for a value that is not shown.
const Hidden = "***"

// KeptHeaders says which headers are kept, which of the stored ones no key opens, and where
// they stand in a policy.
type KeptHeaders struct {
	Names, Unopened []string
	Pointer         func(name string) string
}

// KeepHeaders gives headers the values that they have in old. It refuses a header that old
// does not have, and a value that would go to another origin than the one it was given for.
func (c *Callback) KeepHeaders(old Callback, k KeptHeaders) (errs wire.FieldErrors) {
	same := c.sameOrigin(old.Destination)
	for _, name := range slices.Sorted(slices.Values(k.Names)) {
		stored, ok := named(old.Headers, name)
		value, pointer := old.Headers[stored], k.Pointer(name)
		switch {
		case !ok:
			errs.Add(pointer, wire.CodeRequired, "needs a value: none is stored that "+Hidden+" could keep")
		case !same:
			errs.Add(pointer, wire.CodeConflict, "is kept only for the same scheme, host and port: give its value anew, or remove the header")
		case slices.Contains(k.Unopened, k.Pointer(stored)):
			errs.Add(pointer, wire.CodeConflict, "cannot be kept, because no configured secret key opens it: give it anew, "+ConfigureKey)
		default:
			c.Headers[name] = value
		}
	}
	return errs
}

// ConfigureKey ends the refusal of a value that no secret key opens.
const ConfigureKey = "or configure the key in WAKECALL_SECRET_KEY"

// HeaderPointer is where a policy or a timer has a header.
func HeaderPointer(name string) string { return "/callback/headers/" + wire.EscapePointer(name) }

// FallbackHeaderPointer is where a policy has a header of its fallback.
func FallbackHeaderPointer(name string) string {
	return "/fallback/headers/" + wire.EscapePointer(name)
}
