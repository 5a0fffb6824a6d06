package isolation

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

const (
	// crowd is how many timers of the misbehaving type fall due at once.
	crowd = 5000
	// massRate is the rate of a dispatch beside, in items a second.
	massRate = 1000.0
	// every is the time between two timers of the watched type.
	every = 100 * time.Millisecond
	// herd is how many of them are booked in the last seconds before they fall due, and
	// hotFor is how long before its due time the first one is: each is handed to a worker at
	// its booking.
	herd, hotFor = 3000, 20 * time.Second
	// before and after are the time around the crowd's instant in which the other type is
	// watched.
	before, after = 10 * time.Second, 40 * time.Second
	// cold is more than a minute before the first timer of the other type is due: Temporal
	// keeps it.
	cold = 80 * time.Second
	// slack is by how much the other type's lateness may exceed twice its quiet one.
	slack = 250 * time.Millisecond
)

// A type that floods, hangs or fails leaves the others on time, compared with their own
// quiet run of the same minutes.
func BenchmarkIsolation(b *testing.B) {
	quiet := watch(b, "quiet", disturbance{ahead: cold})
	for name, disturb := range map[string]disturbance{
		"floods": crowded(func(http.ResponseWriter, *http.Request) {}),
		"hot":    {cold, hot},
		"fails":  crowded(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
		"hangs":  crowded(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"mass":   {2 * before, mass},
	} {
		b.Run(name, func(b *testing.B) {
			disturbed := watch(b, name, disturb)
			b.ReportMetric(float64(p99(disturbed).Milliseconds()), "ms-p99")
			b.ReportMetric(float64(p99(quiet).Milliseconds()), "ms-p99-quiet")
			require.LessOrEqual(b, p99(disturbed), 2*p99(quiet)+slack, "quiet %s", p99(quiet))
		})
	}
}

// disturbance is another type's behaviour from an instant on; act, if set, begins that much
// ahead.
type disturbance struct {
	ahead time.Duration
	act   func(t testing.TB, env *process.Standalone, r *receiver.Receiver, instant time.Time)
}

// crowded is a crowd of timers whose receiver answers like this.
func crowded(answer http.HandlerFunc) disturbance {
	return disturbance{before + crowd/40*time.Second, func(t testing.TB, env *process.Standalone, r *receiver.Receiver, instant time.Time) {
		url := r.On("/crowd", func(w http.ResponseWriter, r *http.Request, _ int) { answer(w, r) })
		env.Policy("crowd", contract.JSON{"callback": contract.JSON{"url": url}})
		book(t, env, "crowd", slices.Repeat([]time.Time{instant}, crowd))
	}}
}

// hot is a herd that is booked in its last seconds, while earlier booked timers fall due.
func hot(t testing.TB, env *process.Standalone, r *receiver.Receiver, instant time.Time) {
	env.Policy("crowd", contract.JSON{"callback": contract.JSON{"url": r.On("/hot", receiver.Status(http.StatusOK))}})
	begin := time.NewTimer(time.Until(instant.Add(-hotFor)))
	defer begin.Stop()
	<-begin.C
	book(t, env, "crowd", slices.Repeat([]time.Time{instant}, herd))
	t.Logf("the last of the herd was booked %s before its instant", time.Until(instant).Round(time.Millisecond))
}

// mass is a dispatch that sends while the other type is watched.
func mass(t testing.TB, env *process.Standalone, r *receiver.Receiver, instant time.Time) {
	env.Policy("crowd", contract.JSON{"callback": contract.JSON{"url": r.On("/mass", receiver.Status(http.StatusOK))}})
	dispatches := testenv.Open(t, env.Addr("WAKECALL_TEMPORAL_ADDR")).Engine.Dispatches
	due := wire.At(instant)
	order := dispatch.Dispatch{Key: wire.Key{BusinessType: "crowd", BusinessID: "mass"}, PerSecond: massRate, DueAt: &due}
	_, _, err := dispatches.Open(t.Context(), order)
	require.NoError(t, err)
	upload, err := dispatches.Upload(t.Context(), order.Key, 0)
	require.NoError(t, err)
	for n := range int(massRate * after.Seconds()) {
		require.NoError(t, upload.Append(t.Context(), dispatch.Item{ID: fmt.Sprint(n)}))
	}
	_, err = upload.Commit(t.Context())
	require.NoError(t, err)
}

// watch returns the lateness of a type's timers beside another type's disturbance.
func watch(t testing.TB, name string, disturb disturbance) (lateness []time.Duration) {
	env := process.NewStandalone(t)
	env.Env["WAKECALL_SECRET_KEY"] = testenv.Settings().SecretKey
	env.Start()
	other := receiver.New(t)
	env.Policy("other", contract.JSON{"callback": contract.JSON{"url": other.URL}})
	instant := time.Now().Add(disturb.ahead)
	timers := make([]time.Time, (before+after)/every)
	for n := range timers {
		timers[n] = instant.Add(time.Duration(n)*every - before)
	}
	book(t, env, "other", timers)
	if disturb.act != nil {
		disturb.act(t, env, receiver.New(t), instant)
	}
	require.Eventually(t, func() bool { return len(other.All()) == len(timers) }, 10*time.Minute, 100*time.Millisecond, "all ring in the end")
	for _, call := range other.All() {
		due, err := time.Parse(time.RFC3339, call.Header.Get("Wakecall-Due-At"))
		require.NoError(t, err)
		late := call.At.Sub(due)
		lateness = append(lateness, late)
		if late > slack {
			t.Logf("due %s after the crowd: %s late", due.Sub(instant).Round(time.Millisecond), late)
		}
	}
	slices.Sort(lateness)
	t.Logf("%s: p50 %s, p99 %s, worst %s", name, lateness[len(lateness)/2], p99(lateness), lateness[len(lateness)-1])
	return lateness
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// book books timers with these due times, in batches.
func book(t testing.TB, env *process.Standalone, kind string, due []time.Time) {
	bookings := make([]client.Booking, len(due))
	for i := range bookings {
		bookings[i] = client.Booking{Key: wire.Key{BusinessType: kind, BusinessID: fmt.Sprint(i)}, Terms: client.Terms{DueAt: wire.At(due[i])}}
	}
	for batch := range slices.Chunk(bookings, 500) {
		sample.BookBatch(t, env.Client(), batch)
	}
}
