package calls

// Where returns the items of a list that keep accepts.
func Where[T any](all []T, keep func(T) bool) (kept []T) {
	for _, one := range all {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
