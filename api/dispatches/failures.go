package dispatches

import (
	"bufio"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/unbounded"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// failures answers with one line for each item that failed for good. There may be millions.
func (h handlers) failures(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, unbounded.MediaTypeNDJSON)
	out, encode := bufio.NewWriterSize(unbounded.NewWriter(c), tuning.StreamBuffer), answers.Encoder(c)
	err = h.Failures.Failures(c.Request().Context(), key, func(failure dispatch.Failure) error {
		line, err := encode(failure)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		return err
	})
	if err != nil {
		return err
	}
	c.Response().WriteHeader(http.StatusOK)
	return out.Flush()
}
