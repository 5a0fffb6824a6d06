package calls

import (
	"net/http"
	"strings"

	"github.com/wakecall/wakecall/console/words"
)

// Problem is an answer that refuses.
type Problem struct {
	// Type ends with a code of the API's closed list; "" for what the console refuses by itself.
	Type   string `json:"type"`
	Status int    `json:"status"`
	// Title and Detail are the API's own words. A title of the console is in the language of the page.
	Title     string       `json:"title"`
	Detail    string       `json:"detail"`
	Errors    []FieldError `json:"errors"`
	RequestID string       `json:"request_id"`
}

// FieldError is one value that is refused.
type FieldError struct {
	Pointer string `json:"pointer"`
	// Code is one of a closed list.
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// problemPrefix is what the type of every problem of the API begins with.
const problemPrefix = "urn:wakecall:problem:"

// codeInternal is the code of what breaks inside.
const codeInternal = "internal"

// Named is what kind of problem it is.
func (p *Problem) Named(in words.Speech) string {
	key := "problem." + strings.TrimPrefix(p.Type, problemPrefix)
	if text := in.T(key); text != key {
		return text
	}
	return p.Title
}

// Says is what the API says beyond that; "" for nothing.
func (p *Problem) Says() string {
	if p.Detail == p.Title+"." {
		return ""
	}
	return p.Detail
}

// Named is the kind of error, if the page does not show the API's own words for it.
func (e FieldError) Named(in words.Speech) string {
	if e.Code == "" || in.IsEnglish() && e.Detail != "" {
		return ""
	}
	return in.T("field." + e.Code)
}

// StatusOf is the status of a page that shows a problem, or none.
func StatusOf(problem *Problem) int {
	if problem != nil {
		return problem.Status
	}
	return http.StatusOK
}
