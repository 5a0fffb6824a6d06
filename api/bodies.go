package api

import (
	"context"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// large are the bodies in hand that are larger than one timer may be.
type large struct{ room *semaphore.Weighted }

func newLarge() large { return large{semaphore.NewWeighted(tuning.LargeBodies)} }

// upTo makes a call wait for room for its body, of so many bytes at most, and keeps the room
// until it is answered. Small bodies need none: large ones do not hold them up.
func (l large) upTo(limit int64) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			weight := limit
			if said := c.Request().ContentLength; said >= 0 {
				weight = min(said, limit)
			}
			if weight <= maxBody {
				return next(c)
			}
			waiting, cancel := context.WithTimeout(c.Request().Context(), tuning.LargeBodyWait)
			defer cancel()
			if err := l.room.Acquire(waiting, weight); err != nil {
				return &wire.Error{Code: wire.Unavailable, Message: "Too many large bodies are read at once. Repeat the request in a moment."}
			}
			defer l.room.Release(weight)
			return next(c)
		}
	}
}
