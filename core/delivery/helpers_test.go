package delivery_test

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

var key = wire.Key{BusinessType: "order-close", BusinessID: "o-1"}

func in(d time.Duration) *wire.Duration { return ptr(wire.Duration(d)) }

func ptr[T any](v T) *T { return &v }
