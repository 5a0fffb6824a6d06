package console

import (
	"net/http"

	"github.com/go-json-experiment/json"
)

// download is an answer of the API on its way to the browser, as a file. One that refuses is kept, to
// be shown on a page.
type download struct {
	answer
	to   http.ResponseWriter
	file string
}

// Unwrap is for [http.ResponseController].
func (d *download) Unwrap() http.ResponseWriter { return d.to }

// WriteHeader implements [http.ResponseWriter].
func (d *download) WriteHeader(status int) {
	if d.status != 0 {
		return
	}
	if d.status = status; d.refuses() {
		return
	}
	d.to.Header().Set("Content-Type", d.header.Get("Content-Type"))
	d.to.Header().Set("Content-Disposition", `attachment; filename="`+d.file+`"`)
	d.to.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (d *download) Write(p []byte) (int, error) {
	d.WriteHeader(http.StatusOK)
	if d.refuses() {
		return d.body.Write(p)
	}
	return d.to.Write(p)
}

func (d *download) refuses() bool { return d.status >= http.StatusBadRequest }

// handOn hands on what the API answers to a GET, as it comes.
func (c *Site) handOn(v *visit, path, file string) {
	request, err := v.request(call{method: http.MethodGet, path: path})
	if err != nil {
		c.refuse(v, http.StatusInternalServerError, "refused.broken")
		return
	}
	d := &download{answer: answer{header: http.Header{}}, to: v.W, file: file}
	c.API.ServeHTTP(d, request)
	if !d.refuses() {
		return
	}
	problem := &Problem{}
	if err := json.Unmarshal(d.body.Bytes(), problem); err != nil {
		problem = c.broken(err)
	}
	problem.Status = d.status
	c.refuseBy(v, problem)
}
