package timer

// KeywordRecurring marks a recurring timer. No label has its form.
const KeywordRecurring = ":recurring"

// Keywords returns the further search keys of a timer, in order, beside its type, id, state and
// due time.
func (m Memo) Keywords() []string {
	keywords := m.Labels.Keywords()
	if m.Series != nil {
		keywords = append([]string{KeywordRecurring}, keywords...)
	}
	return keywords
}
