package calls

// Stats are how many timers there are: of all business types, or of the one that was asked for.
// Only the former have the types one by one.
type Stats struct {
	Timers        Counts       `json:"timers"`
	BusinessTypes []TypeCounts `json:"business_types"`
}

// TypeCounts are the timers of one business type.
type TypeCounts struct {
	BusinessType string `json:"business_type"`
	Timers       Counts `json:"timers"`
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

// InStatus is how many there are of a status; of all together for "".
func (c Counts) InStatus(status string) int {
	each := map[string]int{
		StatusScheduled: c.Scheduled, StatusPaused: c.Paused, StatusDelivering: c.Delivering, StatusDelivered: c.Delivered,
		StatusFailed: c.Failed, StatusExpired: c.Expired, statusCancelled: c.Cancelled,
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
