package site

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/console/calls"
)

// download is an answer of the API on its way to the browser, as a file. One that refuses is kept, to
// be shown on a page.
type download struct {
	calls.Answer
	to   http.ResponseWriter
	file string
}

// Unwrap is for [http.ResponseController].
func (d *download) Unwrap() http.ResponseWriter { return d.to }

// WriteHeader implements [http.ResponseWriter].
func (d *download) WriteHeader(status int) {
	if d.Status != 0 {
		return
	}
	if d.Status = status; d.refuses() {
		return
	}
	d.to.Header().Set("Content-Type", d.Head.Get("Content-Type"))
	d.to.Header().Set("Content-Disposition", `attachment; filename="`+d.file+`"`)
	d.to.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (d *download) Write(p []byte) (int, error) {
	d.WriteHeader(http.StatusOK)
	if d.refuses() {
		return d.Body.Write(p)
	}
	return d.to.Write(p)
}

func (d *download) refuses() bool { return d.Status >= http.StatusBadRequest }

// HandOn hands on what the API answers to a GET, as it comes.
func (c *Site) HandOn(v *Visit, path, file string) {
	request, err := v.request(calls.Get(path))
	if err != nil {
		c.RefuseBy(v, c.Broken(err))
		return
	}
	d := &download{Answer: calls.Answer{Head: http.Header{}}, to: v.W, file: file}
	c.API.ServeHTTP(d, request)
	if !d.refuses() {
		return
	}
	problem := &calls.Problem{}
	if err := json.Unmarshal(d.Body.Bytes(), problem); err != nil {
		problem = c.Broken(err)
	}
	problem.Status = d.Status
	c.RefuseBy(v, problem)
}
