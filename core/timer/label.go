package timer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Labels are a client's marks on a timer, for searches. Receivers do not get them.
type Labels map[string]string

// Labels use the characters of business types and ids, for the same reason.
var (
	labelKeyForm   = fmt.Sprintf("[a-z0-9][a-z0-9._-]{0,%d}", MaxLabelKey-1)
	labelKey       = regexp.MustCompile("^" + labelKeyForm + "$")
	labelValue     = regexp.MustCompile(fmt.Sprintf("^[A-Za-z0-9._:~@=+-]{1,%d}$", MaxLabelValue))
	labelValueForm = fmt.Sprintf("must be 1 to %d characters of A-Z a-z 0-9 . _ : ~ @ = + -", MaxLabelValue)
)

// IsLabelKey reports whether key can be the key of a label.
func IsLabelKey(key string) bool { return labelKey.MatchString(key) }

// Check returns what is wrong with the labels, one by one.
func (l Labels) Check() (errs wire.FieldErrors) {
	if !wire.EnforceLength(&errs, ListLabels, "", len(l)) {
		return errs
	}
	for _, key := range slices.Sorted(maps.Keys(l)) {
		if !IsLabelKey(key) {
			errs.Add("/"+wire.EscapePointer(key), wire.CodeInvalidLabel, "must have a key that matches "+labelKeyForm)
		} else if !labelValue.MatchString(l[key]) {
			errs.Add("/"+key, wire.CodeInvalidLabel, labelValueForm)
		}
	}
	return errs
}

// Have reports whether all of the others are among the labels.
func (l Labels) Have(others Labels) bool {
	for key, value := range others {
		if mine, ok := l[key]; !ok || mine != value {
			return false
		}
	}
	return true
}

// Keywords returns the labels as search keys, in order.
func (l Labels) Keywords() (keywords []string) {
	for _, key := range slices.Sorted(maps.Keys(l)) {
		keywords = append(keywords, key+"="+l[key])
	}
	return keywords
}

// labels returns the labels in the terms, nil if there are none.
func (t Terms) labels() Labels {
	if len(*t.Labels) == 0 {
		return nil
	}
	return *t.Labels
}
