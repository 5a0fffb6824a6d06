package wire

// List bounds a list, or an object of names that the client chooses, in a request. Whoever
// reads the request counts its entries before anything is built of them.
type List struct {
	// Name is the field's in a body. No two fields of one name have another bound.
	Name string
	Most int
	// Of is what the entries are, in the plural.
	Of string
}

// FieldError says how many entries the list may have.
func (l List) FieldError(pointer string) FieldError {
	var errs FieldErrors
	errs.AddMost(pointer, l.Most, l.Of)
	return errs[0]
}

// EnforceLength refuses a list that is too long. What stands in one is not judged: there
// may be very much of it.
func EnforceLength(errs *FieldErrors, list List, pointer string, count int) (within bool) {
	if count > list.Most {
		*errs = append(*errs, list.FieldError(pointer))
		return false
	}
	return true
}
