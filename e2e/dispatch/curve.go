package dispatch

import (
	"fmt"
	"slices"
	"time"
)

// Window is a time without a promise.
type Window struct{ From, To time.Duration }

// Curve is how many items arrived in each second, from the first one on.
type Curve struct {
	Rate    float64 `json:"rate"`
	Seconds []int   `json:"seconds"`
	// Events are the events meanwhile.
	Events []Event `json:"events,omitempty"`
}

// Event is an event at the workers, in seconds after the first item.
type Event struct {
	At   float64 `json:"at"`
	What string  `json:"what"`
}

// excused are two seconds before and after each event.
func (c Curve) excused() (windows []Window) {
	for _, event := range c.Events {
		at := time.Duration(event.At * float64(time.Second))
		windows = append(windows, Window{at - 2*time.Second, at + 2*time.Second})
	}
	return windows
}

// CurveOf counts arrivals by the seconds since the first of them.
func CurveOf(rate float64, arrivals []time.Time) Curve {
	c := Curve{Rate: rate}
	first := slices.MinFunc(arrivals, time.Time.Compare)
	for _, at := range arrivals {
		second := int(at.Sub(first) / time.Second)
		for len(c.Seconds) <= second {
			c.Seconds = append(c.Seconds, 0)
		}
		c.Seconds[second]++
	}
	return c
}

// Uneven names the seconds, from the second one to the last whole one, that are more than 5
// % from the rate, and every second with more than 1.1 times the rate. One item more or less
// is never too much.
func (c Curve) Uneven(excused ...Window) (uneven []string) {
	for second, items := range c.Seconds {
		from, to := time.Duration(second)*time.Second, time.Duration(second+1)*time.Second
		slack := max(c.Rate*0.05, 1)
		first, last := second == 0, second >= len(c.Seconds)-1
		switch {
		case float64(items) > max(c.Rate*1.1, c.Rate+1):
			uneven = append(uneven, fmt.Sprintf("second %d: %d items are a burst", second, items))
		case first || last || slices.ContainsFunc(excused, func(w Window) bool { return from < w.To && to > w.From }):
		case float64(items) < c.Rate-slack || float64(items) > c.Rate+slack:
			uneven = append(uneven, fmt.Sprintf("second %d: %d items", second, items))
		}
	}
	return uneven
}

// Worst is the largest relative departure of a second from the rate. It leaves out the
// first, the last and the excused seconds.
func (c Curve) Worst(excused ...Window) (part float64) {
	for second := 1; second < len(c.Seconds)-1; second++ {
		from, to := time.Duration(second)*time.Second, time.Duration(second+1)*time.Second
		if !slices.ContainsFunc(excused, func(w Window) bool { return from < w.To && to > w.From }) {
			part = max(part, abs(float64(c.Seconds[second])/c.Rate-1))
		}
	}
	return part
}

func abs(x float64) float64 { return max(x, -x) }
