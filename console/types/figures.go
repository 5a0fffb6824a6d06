package types

import (
	"html/template"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/chart"
	"github.com/wakecall/wakecall/console/words"
)

// OnTime is the share of its timers that rang on time in the last day; "" where it is not known.
func (r TypeRow) OnTime() string {
	if r.Past == nil || r.Past.Recorded == nil || r.Past.Recorded.Share == nil {
		return ""
	}
	share := *r.Past.Recorded.Share
	percent := strconv.FormatFloat(share*100, 'f', 2, 64)
	if percent == "100.00" && share < 1 { // a single late one of a million shows
		percent = "99.99"
	}
	return percent + " %"
}

// PerSecond is how many callbacks a second the last minute had, and how many there may be.
func (r TypeRow) PerSecond() string {
	speed, limit := "", r.Rate()
	if r.Past != nil && r.Past.PerSecond != nil {
		speed = words.Speed(*r.Past.PerSecond)
	}
	if limit == "" {
		return speed
	}
	return speed + " / " + limit
}

// Spark draws the last day, hour by hour.
func (r TypeRow) Spark() []chart.Box {
	if r.Past == nil {
		return nil
	}
	return chart.Spark(r.Past.Hours)
}

// Day is that picture in words; "" where it is not known.
func (r TypeRow) Day(in words.Speech) template.HTML {
	if r.Past == nil {
		return ""
	}
	var sum, worst calls.OutcomeStep
	for _, hour := range r.Past.Hours {
		sum.Delivered, sum.Failed, sum.Expired = sum.Delivered+hour.Delivered, sum.Failed+hour.Failed, sum.Expired+hour.Expired
		if hour.Failed > worst.Failed {
			worst = hour
		}
	}
	text := in.HTML("plots.says.ended", sum.Delivered, sum.Failed, sum.Expired)
	if worst.Failed > 0 {
		text += in.HTML("plots.says.most", in.Moment(worst.At))
	}
	return text
}

// dueSoon is how many timers fall due in the sixty minutes that begin with the present one, by what is known
// of the time ahead.
func (r TypeRow) dueSoon(now time.Time) (n int) {
	if r.Soon == nil {
		return 0
	}
	from := now.Truncate(words.Minute)
	to := from.Add(words.Hour)
	for _, step := range r.Soon.Steps {
		if !step.At.Before(from) && step.At.Before(to) {
			n += step.Due + step.DispatchItems
		}
	}
	return n
}
