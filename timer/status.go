package timer

// Status is where a timer stands.
type Status string

// The life of a timer: scheduled, delivering, then one of the four ends. A
// recurring timer begins anew after each delivery, and may be paused.
const (
	// Scheduled: waiting for its due time.
	Scheduled Status = "scheduled"
	// Paused: a recurring timer that waits to be resumed.
	Paused Status = "paused"
	// Delivering: an attempt is running or a retry is pending.
	Delivering Status = "delivering"
	// Delivered: the receiver answered 2xx.
	Delivered Status = "delivered"
	// Failed: the ladder is used up, or the receiver said stop.
	Failed Status = "failed"
	// Expired: the latest time passed before success.
	Expired Status = "expired"
	// Cancelled: cancelled or terminated by anybody.
	Cancelled Status = "cancelled"
)

// Statuses lists every status, in the order of a timer's life.
func Statuses() []Status {
	return []Status{Scheduled, Paused, Delivering, Delivered, Failed, Expired, Cancelled}
}

// Finished reports whether the timer will not ring again by itself.
func (s Status) Finished() bool { return s != Scheduled && s != Paused && s != Delivering }
