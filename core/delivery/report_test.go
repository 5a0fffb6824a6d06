package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

func TestNextIn(t *testing.T) {
	ended := time.UnixMilli(1_700_000_000_000)
	report := Report{EndedAt: wire.At(ended), RetryIn: wire.Duration(10 * time.Second)}
	for since, left := range map[time.Duration]time.Duration{
		0:                10 * time.Second,
		9 * time.Second:  time.Second,
		11 * time.Second: -time.Second,
		-time.Hour:       10 * time.Second, // a worker whose clock is behind
	} {
		require.Equal(t, left, report.NextIn(ended.Add(since)), since)
	}
	require.LessOrEqual(t, Report{EndedAt: wire.At(ended)}.NextIn(ended), time.Duration(0), "no wait was asked for")
}
