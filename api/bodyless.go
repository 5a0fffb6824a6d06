package api

import (
	"io"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/wire"
)

// reading are the calls that read a body.
var reading = []string{
	"POST " + timersPath, "POST " + timersPath + "/batch",
	"PUT " + oneTimer, "PATCH " + oneTimer, "POST " + oneTimer + "/pause", "POST " + oneTimer + "/resume",
	"PUT " + onePolicy, "PATCH " + onePolicy,
	"POST " + bulkPath, "POST " + dispatchesPath, "PATCH " + oneDispatch, "PUT " + oneDispatch + "/items",
	"POST " + deliveriesPath + "/:webhook_id/ack", "POST " + deliveriesPath + "/:webhook_id/nack",
	"POST " + streamsPath + "/:type/answers",
	"POST " + emergencyPath + "/pause", "POST " + emergencyPath + "/resume",
	"POST " + versionPrefix + "recurrences/preview",
}

const oneDispatch = dispatchesPath + "/:type/:id"

// onlyWhereRead refuses a body that a call would ignore: who sends one wants what it says.
func onlyWhereRead(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !isCall(r.Context()) || slices.Contains(reading, r.Method+" "+c.Path()) || isEmpty(r) {
			return next(c)
		}
		return &wire.Error{Code: malformedRequest, Message: "This call takes no body; leave it out."}
	}
}

// isEmpty is whether a request has no body. One in chunks may turn out to have none.
func isEmpty(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength == 0
	}
	n, err := io.ReadFull(r.Body, make([]byte, 1))
	return n == 0 && err == io.EOF
}
