package api

import (
	"bytes"
	_ "embed"
	"fmt"
	"time"
)

// OpenAPI is the description of the API, OpenAPI 3.1. Tests hold it to the
// routes and to real answers.
var OpenAPI = inNextYear(document, time.Now())

//go:embed openapi.yaml
var document []byte

// exampleDay is the day that examples of due times name.
const exampleDay = "-01-31"

// inNextYear moves the examples of due times into the next year: those of the file are in
// the past some day, and Wakecall refuses them then.
func inNextYear(text []byte, now time.Time) []byte {
	return bytes.ReplaceAll(text, []byte("2027"+exampleDay), fmt.Appendf(nil, "%04d%s", now.Year()+1, exampleDay))
}
