package timer

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
