package console

import "time"

// Policy is what the API shows of how a business type is called back.
type Policy struct {
	BusinessType string    `json:"business_type"`
	Paused       bool      `json:"paused"`
	PausedBy     string    `json:"paused_by"`
	PausedAt     time.Time `json:"paused_at"`
	BackPressure *struct {
		Until time.Time `json:"until"`
		Since time.Time `json:"since"`
	} `json:"back_pressure"`
	Limits struct {
		CallbacksPerSecond *float64 `json:"callbacks_per_second"`
	} `json:"limits"`
}

// pressedAt reports whether the receiver has asked for patience that lasts at a time.
func (p Policy) pressedAt(at time.Time) bool {
	return p.BackPressure != nil && p.BackPressure.Until.After(at)
}

// Counts are how many timers there are of each status.
type Counts struct {
	Scheduled  int `json:"scheduled"`
	Paused     int `json:"paused"`
	Delivering int `json:"delivering"`
	Delivered  int `json:"delivered"`
	Failed     int `json:"failed"`
	Expired    int `json:"expired"`
	Cancelled  int `json:"cancelled"`
}

// of is how many there are of a status; of all together for "".
func (c Counts) of(status string) int {
	each := map[string]int{
		statusScheduled: c.Scheduled, statusPaused: c.Paused, statusDelivering: c.Delivering, statusDelivered: c.Delivered,
		statusFailed: c.Failed, statusExpired: c.Expired, statusCancelled: c.Cancelled,
	}
	if status != "" {
		return each[status]
	}
	sum := 0
	for _, n := range each {
		sum += n
	}
	return sum
}
