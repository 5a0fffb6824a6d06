package job_test

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

func ptr[T any](v T) *T { return &v }

// Values of everything that Temporal stores, every field filled. What one request
// cannot say at once, such as steps beside an exponential ladder, is here said at once.

func clock(hour int) wire.Instant {
	return wire.At(noon.Add(time.Duration(hour)*time.Hour + 7*time.Millisecond))
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
