package sample

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
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
		for _, one := range BookBatch(t, api, bookings) {
			due[one.BusinessID] = one.DueAt
		}
	}
	require.Len(t, due, n)
	return due
}

// BookBatch books timers in one batch, and books again what was refused with 503, as clients do.
// It returns the timers, in no order.
func BookBatch(t testing.TB, api *client.Client, bookings []client.Booking) (booked []timer.View) {
	t.Helper()
	var inDoubt bool
	for until := time.Now().Add(process.Patience); len(bookings) > 0; inDoubt = true {
		added, err := api.Timers.AddBatch(t.Context(), bookings)
		require.NoError(t, err)
		var again []client.Booking
		for i, one := range added {
			switch {
			case one.Status == http.StatusServiceUnavailable && time.Now().Before(until):
				again = append(again, bookings[i])
			case inDoubt && rang(one):
				booked = append(booked, *one.Problem.Timer)
			case inDoubt && one.Status == http.StatusOK:
				booked = append(booked, one.Timer)
			default:
				require.Equal(t, http.StatusCreated, one.Status, "%v", one.Problem)
				booked = append(booked, one.Timer)
			}
		}
		bookings = again
	}
	return booked
}

// rang reports whether a booking is refused because its timer has ended: the booking before it,
// whose outcome was unknown, had taken effect.
func rang(one client.Added) bool {
	return one.Problem != nil && one.Problem.Code() == wire.AlreadyFinished && one.Problem.Timer != nil
}
