package processes

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/health"
)

// Processes knows the processes of an installation.
type Processes interface {
	List(ctx context.Context) (health.Processes, error)
}

// Register adds the call that lists processes. What they hold and send is of all business types together.
// So it is for callers who may see all of them.
func Register(contract calls.Routes, processes Processes) {
	contract.Get(paths.Prefix+"processes", calls.Viewing(calls.AllTypes, calls.NoPayloads), func(c echo.Context) error {
		if err := requests.ReadQuery(c).Err(); err != nil {
			return err
		}
		answer, err := processes.List(c.Request().Context())
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, answer)
	})
}
