package policies

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
)

// testExamples has the parameters whose values are of a test event only.
var testExamples = map[string]string{"link": string(delivery.LinkFallback)}

// testPolicy sends one test event. A receiver at fault is no error.
func (h handlers) testPolicy(c echo.Context) error {
	businessType, q := requests.BusinessType(c, "link")
	link := requests.OneOf(q, "link", []delivery.Link{delivery.LinkCallback, delivery.LinkFallback})
	if err := q.Err(); err != nil {
		return err
	}
	result, err := h.policies.Ring(c.Request().Context(), businessType, cmp.Or(link, delivery.LinkCallback))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, result)
}
