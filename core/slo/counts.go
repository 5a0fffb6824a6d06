package slo

import (
	"time"

	"github.com/wakecall/wakecall/core/timer"
)

// Counts are those of a business type in an interval. A recurring timer counts once for each
// occurrence. A timer counts when it ends.
type Counts struct {
	// Booked is how many timers were booked, and Bytes the size of their payloads.
	Booked int64 `json:"booked,omitzero"`
	Bytes  int64 `json:"bytes,omitzero"`
	// Rung is how many timers that ended had a first attempt, and OnTime how many of them had it
	// within the policy's on_time. A first attempt of which nothing could be sent is not on time,
	// and has no lateness. Missed is how many ended without an attempt.
	Rung   int64 `json:"rung,omitzero"`
	OnTime int64 `json:"on_time,omitzero"`
	Missed int64 `json:"missed,omitzero"`
	// JudgedBy is the on_time that the policy had when they ended.
	JudgedBy Promises `json:"judged_by,omitzero"`
	// Delivered, Failed and Expired are how the timers ended.
	Delivered int64 `json:"delivered,omitzero"`
	Failed    int64 `json:"failed,omitzero"`
	Expired   int64 `json:"expired,omitzero"`
	// Attempts is how many calls were made for them.
	Attempts int64 `json:"attempts,omitzero"`
	// WorstMS is the greatest lateness of a first attempt, in milliseconds.
	WorstMS  int64     `json:"worst_ms,omitzero"`
	Lateness Histogram `json:"lateness,omitempty"`
}

// Book counts a booking with a payload of so many bytes.
func (c *Counts) Book(bytes int) {
	c.Booked++
	c.Bytes += int64(bytes)
}

// Observe counts the end of a timer whose policy promises a first attempt within onTime. A
// cancelled timer breaks no promise, and its attempts are all that counts. A timer that was
// tried again had its first attempt before: it counts by its attempts and its end.
func (c *Counts) Observe(outcome timer.Outcome, onTime time.Duration) {
	c.Attempts += int64(outcome.Attempts + outcome.Earlier)
	switch outcome.Status {
	case timer.Delivered:
		c.Delivered++
	case timer.Failed:
		c.Failed++
	case timer.Expired:
		c.Expired++
	default:
		return
	}
	if outcome.Again {
		return
	}
	c.JudgedBy = c.JudgedBy.And(Promise(onTime))
	switch {
	case outcome.LatenessMS != nil:
		c.ring(max(*outcome.LatenessMS, 0), onTime)
	case outcome.Attempts > 0 || outcome.Unsent:
		c.Rung++
	default:
		c.Missed++
	}
}

// ring counts a first attempt so late, in milliseconds.
func (c *Counts) ring(late int64, onTime time.Duration) {
	c.Rung++
	if late <= onTime.Milliseconds() {
		c.OnTime++
	}
	c.WorstMS = max(c.WorstMS, late)
	if c.Lateness == nil {
		c.Lateness = Histogram{}
	}
	c.Lateness.Observe(late)
}

// Add adds the counts of another interval.
func (c *Counts) Add(other Counts) {
	c.Booked += other.Booked
	c.Bytes += other.Bytes
	c.Rung += other.Rung
	c.OnTime += other.OnTime
	c.Missed += other.Missed
	c.JudgedBy = c.JudgedBy.And(other.JudgedBy)
	c.Delivered += other.Delivered
	c.Failed += other.Failed
	c.Expired += other.Expired
	c.Attempts += other.Attempts
	c.WorstMS = max(c.WorstMS, other.WorstMS)
	if c.Lateness == nil && len(other.Lateness) > 0 {
		c.Lateness = Histogram{}
	}
	c.Lateness.Add(other.Lateness)
}
