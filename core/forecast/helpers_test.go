package forecast_test

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

var key = wire.Key{BusinessType: "order-close", BusinessID: "o-1"}
