package timer

// List bounds a list, or an object of names that the client chooses, in a request. Whoever
// reads the request counts its entries before anything is built of them.
type List struct {
	// Name is the field's in a body. No two fields of one name have another bound.
	Name string
	Most int
	// Of is what the entries are, in the plural.
	Of string
}

var (
	listSteps         = List{"steps", MaxAttempts - 1, "steps"}
	listCrons         = List{"crons", MaxCrons, "expressions"}
	listExclude       = List{"exclude", MaxExcludes, "entries"}
	listAt            = List{"at", MaxMoments, "times"}
	listBefore        = List{"before", MaxMoments, "times"}
	listHeaders       = List{"headers", MaxHeaders, "headers"}
	listLabels        = List{"labels", MaxLabels, "labels"}
	listSecrets       = List{"signing_secrets", MaxSecrets, "secrets"}
	listEmergencies   = List{"business_types", MaxEmergencyTypes, "business types"}
	listDispatchItems = List{"items", MaxInlineItems, "items"}
)

// Lists are those of all requests, by their names.
func Lists() map[string]List {
	lists := map[string]List{}
	for _, list := range []List{
		listSteps, listCrons, listExclude, listAt, listBefore, listHeaders, listLabels, listSecrets, listEmergencies, listDispatchItems,
	} {
		lists[list.Name] = list
	}
	return lists
}

// FieldError says how many entries the list may have.
func (l List) FieldError(pointer string) FieldError {
	var errs FieldErrors
	errs.AddMost(pointer, l.Most, l.Of)
	return errs[0]
}

// enforceLength refuses a list that is too long. What stands in one is not judged: there
// may be very much of it.
func enforceLength(errs *FieldErrors, list List, pointer string, count int) (within bool) {
	if count > list.Most {
		*errs = append(*errs, list.FieldError(pointer))
		return false
	}
	return true
}
