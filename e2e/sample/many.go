package sample

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/wire"
)

const batch = 200

// BookMany books timers of a type in batches, and returns their due times.
func BookMany(t testing.TB, api *client.Client, kind string, n int) map[string]wire.Instant {
	t.Helper()
	due, at := map[string]wire.Instant{}, wire.At(time.Now().Add(24*time.Hour))
	for first := 0; first < n; first += batch {
		var bookings []client.Booking
		for i := first; i < min(first+batch, n); i++ {
			bookings = append(bookings, client.Booking{
				Key: wire.Key{BusinessType: kind, BusinessID: fmt.Sprint(i)}, Terms: client.Terms{DueAt: at},
			})
		}
		added, err := api.Timers.AddBatch(t.Context(), bookings)
		require.NoError(t, err)
		for _, one := range added {
			require.Equal(t, http.StatusCreated, one.Status)
			due[one.Timer.BusinessID] = one.Timer.DueAt
		}
	}
	require.Len(t, due, n)
	return due
}
