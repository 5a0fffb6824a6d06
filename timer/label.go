package timer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Labels are what a client marks a timer with, to find it again. A receiver is not told
// them.
type Labels map[string]string

// The characters are those of a business type and of a business id, for the same reason.
var (
	labelKeyForm   = fmt.Sprintf("[a-z0-9][a-z0-9._-]{0,%d}", MaxLabelKey-1)
	labelKey       = regexp.MustCompile("^" + labelKeyForm + "$")
	labelValue     = regexp.MustCompile(fmt.Sprintf("^[A-Za-z0-9._:~@=+-]{1,%d}$", MaxLabelValue))
	labelValueForm = fmt.Sprintf("must be 1 to %d characters of A-Z a-z 0-9 . _ : ~ @ = + -", MaxLabelValue)
)

// Check returns what is wrong with the labels, one by one.
func (l Labels) Check() (errs FieldErrors) {
	if !enforceLength(&errs, listLabels, "", len(l)) {
		return errs
	}
	for _, key := range slices.Sorted(maps.Keys(l)) {
		if !labelKey.MatchString(key) {
			errs.Add("/"+escapePointer(key), CodeInvalidLabel, "must have a key that matches "+labelKeyForm)
		} else if !labelValue.MatchString(l[key]) {
			errs.Add("/"+key, CodeInvalidLabel, labelValueForm)
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

// Keywords are the labels as they are searched for, in order.
func (l Labels) Keywords() (keywords []string) {
	for _, key := range slices.Sorted(maps.Keys(l)) {
		keywords = append(keywords, key+"="+l[key])
	}
	return keywords
}

// KeywordRecurring is that of a recurring timer. No label has its form.
const KeywordRecurring = ":recurring"

// Keywords are what a timer is found by beside its type, id, state and due time, in order.
func (m Memo) Keywords() []string {
	keywords := m.Labels.Keywords()
	if m.Series != nil {
		keywords = append([]string{KeywordRecurring}, keywords...)
	}
	return keywords
}

// labels are the terms' own, nil where there are none.
func (t Terms) labels() Labels {
	if len(*t.Labels) == 0 {
		return nil
	}
	return *t.Labels
}
