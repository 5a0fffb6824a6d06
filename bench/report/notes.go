package report

// notes are the facts without a column in a table.
func (r Result) notes() (notes []string) {
	for _, note := range []string{r.Outcome.Skipped, r.Outcome.Invalid, r.Outcome.Calls.Failure} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return append(notes, way(r.Tenths())...)
}
