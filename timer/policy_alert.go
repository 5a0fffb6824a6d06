package timer

// Alert names who is told of what went wrong with a business type.
type Alert struct {
	URL string `json:"url"`
}

func (a Alert) check() (errs FieldErrors) {
	if a.URL == "" {
		errs.Add("/url", CodeRequired, "is required")
	} else if why := checkURL(a.URL); why != "" {
		errs.Add("/url", CodeInvalidURL, why)
	}
	return errs
}
