package requests

import (
	"context"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"

	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// LargeBodies are the bodies in hand that are larger than one timer may be.
type LargeBodies struct{ room *semaphore.Weighted }

// NewLargeBodies returns room for [tuning.LargeBodies] bytes.
func NewLargeBodies() LargeBodies { return LargeBodies{semaphore.NewWeighted(tuning.LargeBodies)} }

// Limit makes a call wait for room for its body, of so many bytes at most, and keeps the room
// until it is answered. Small bodies need none: large ones do not hold them up.
func (l LargeBodies) Limit(limit int64) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			weight := limit
			if said := c.Request().ContentLength; said >= 0 {
				weight = min(said, limit)
			}
			if weight <= limits.MaxBody {
				return next(c)
			}
			waiting, cancel := context.WithTimeout(c.Request().Context(), tuning.LargeBodyWait)
			defer cancel()
			if err := l.room.Acquire(waiting, weight); err != nil {
				return &wire.Error{Code: wire.Unavailable, Message: "Too many large bodies are being read at once. Repeat the request in a moment."}
			}
			defer l.room.Release(weight)
			return next(c)
		}
	}
}
