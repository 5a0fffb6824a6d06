package core_test

import "time"

func ptr[T any](v T) *T { return &v }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
