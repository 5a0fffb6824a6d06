package timer

import (
	"regexp"
	"strings"
)

// Key names one timer: a business id within its business type.
type Key struct {
	BusinessType string `json:"business_type"`
	BusinessID   string `json:"business_id"`
}

// The characters are chosen so that an id reads the same in a path, a log,
// Temporal's Web UI and a shell.
var (
	businessType = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	businessID   = regexp.MustCompile(`^[A-Za-z0-9._:~@=+-]{1,128}$`)
)

// String is the timer's workflow id, "type/id".
func (k Key) String() string { return k.BusinessType + "/" + k.BusinessID }

// ParseKey is the inverse of [Key.String]; ok is false for any other text.
func ParseKey(workflowID string) (k Key, ok bool) {
	k.BusinessType, k.BusinessID, ok = strings.Cut(workflowID, "/")
	return k, ok && len(k.Check()) == 0
}

// Check returns what is wrong with the key, field by field.
func (k Key) Check() Faults {
	faults := CheckBusinessType(k.BusinessType)
	if !businessID.MatchString(k.BusinessID) {
		faults.Add("/business_id", CodeInvalidBusinessID,
			"must be 1 to 128 characters of A-Z a-z 0-9 . _ : ~ @ = + -")
	}
	return faults
}

// CheckBusinessType returns what is wrong with a business type.
func CheckBusinessType(name string) (faults Faults) {
	if !businessType.MatchString(name) {
		faults.Add("/business_type", CodeInvalidBusinessType,
			"must match [a-z0-9][a-z0-9._-]{0,62}")
	}
	return faults
}
