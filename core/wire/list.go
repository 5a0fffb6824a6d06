package wire

// List bounds a list, or an object of names that the client chooses, in a request. The decoder
// counts the entries before it builds any of them.
type List struct {
	// Name is the field's name in a body. All fields of one name have the same bound.
	Name string
	Most int
	// Of names the entries, in the plural.
	Of string
}

// FieldError describes the allowed number of entries.
func (l List) FieldError(pointer string) FieldError {
	var errs FieldErrors
	errs.AddMost(pointer, l.Most, l.Of)
	return errs[0]
}

// EnforceLength adds an error if a list is too long. A caller does not check the entries of such
// a list: there may be very many.
func EnforceLength(errs *FieldErrors, list List, pointer string, count int) (within bool) {
	if count > list.Most {
		*errs = append(*errs, list.FieldError(pointer))
		return false
	}
	return true
}
