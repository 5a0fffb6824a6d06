package timer

// Marks of timers. No label has their form.
const (
	// KeywordRecurring marks a recurring timer.
	KeywordRecurring = ":recurring"
	// KeywordRedelivery marks the run in which a redelivery begins, and not those that follow it. So
	// there is one for each failed run whose timer was tried again.
	KeywordRedelivery = ":redelivery"
)

// Keywords returns the further search keys of a timer, in order, beside its type, id, state and
// due time.
func (m Memo) Keywords() []string {
	keywords := m.Labels.Keywords()
	if m.Series != nil {
		keywords = append([]string{KeywordRecurring}, keywords...)
	}
	return keywords
}
