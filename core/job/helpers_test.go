package job_test

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

func ptr[T any](v T) *T { return &v }

// Values of every stored type, with every field set. They combine fields that exclude one
// another in a request, such as steps and an exponential ladder.

func clock(hour int) wire.Instant {
	return wire.At(noon.Add(time.Duration(hour)*time.Hour + 7*time.Millisecond))
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
