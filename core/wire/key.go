package wire

import (
	"fmt"
	"regexp"
	"strings"
)

// Key names one timer: a business id within its business type.
type Key struct {
	BusinessType string `json:"business_type"`
	BusinessID   string `json:"business_id"`
}

// The characters read the same in a path, a log, Temporal's Web UI and a shell.
var (
	BusinessTypeForm = fmt.Sprintf("[a-z0-9][a-z0-9._-]{0,%d}", MaxBusinessTypeLen-1)
	businessType     = regexp.MustCompile("^" + BusinessTypeForm + "$")
	businessID       = regexp.MustCompile(fmt.Sprintf("^[A-Za-z0-9._:~@=+-]{1,%d}$", MaxBusinessIDLen))
)

// String returns the timer's workflow id, "type/id".
func (k Key) String() string { return k.BusinessType + "/" + k.BusinessID }

// ParseKey is the inverse of [Key.String]; ok is false for any other text.
func ParseKey(workflowID string) (k Key, ok bool) {
	k.BusinessType, k.BusinessID, ok = strings.Cut(workflowID, "/")
	return k, ok && len(k.Check()) == 0
}

// Check returns what is wrong with the key, field by field.
func (k Key) Check() FieldErrors {
	errs := CheckBusinessType(k.BusinessType)
	if !IsBusinessID(k.BusinessID) {
		errs = append(errs, WrongBusinessID())
	}
	return errs
}

// WrongBusinessID describes the form of a business id.
func WrongBusinessID() FieldError {
	return FieldError{Pointer: "/business_id", Code: CodeInvalidBusinessID,
		Detail: fmt.Sprintf("must be 1 to %d characters of A-Z a-z 0-9 . _ : ~ @ = + -, and neither . nor ..", MaxBusinessIDLen)}
}

// IsBusinessID reports whether id can be a business id.
func IsBusinessID(id string) bool { return businessID.MatchString(id) && !IsDots(id) }

// IsDots reports whether an id is a dot segment. Clients and proxies drop such a segment of a
// path and call its parent (RFC 3986, section 5.2.4).
func IsDots(id string) bool { return id == "." || id == ".." }

// IsBusinessType reports whether name can be a business type.
func IsBusinessType(name string) bool { return businessType.MatchString(name) }

// CheckBusinessType returns what is wrong with a business type.
func CheckBusinessType(name string) (errs FieldErrors) {
	if !IsBusinessType(name) {
		errs.Add("/business_type", CodeInvalidBusinessType, "must match "+BusinessTypeForm)
	}
	return errs
}
