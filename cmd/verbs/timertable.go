package verbs

import (
	"fmt"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

func (s *shell) status(status timer.Status) string {
	colour := plain
	switch status {
	case timer.Delivered:
		colour = green
	case timer.Failed, timer.Expired:
		colour = red
	case timer.Delivering:
		colour = yellow
	case timer.Scheduled:
		colour = blue
	default:
	}
	return s.coloured(colour, string(status))
}

func (v timerVerbs) showTimer(view timer.View) { v.showTimers([]timer.View{view}) }

func (v timerVerbs) showTimers(views []timer.View) {
	var rows [][]string
	for _, view := range views {
		rows = append(rows, []string{
			v.status(view.Status) + stopping(view.CancelRequested), view.String(), v.when(view.DueAt), fmt.Sprint(view.Attempts),
			failureOf(view.LastFailure), v.describeWait(view.Wait),
		})
	}
	v.table([]string{v.coloured(plain, "STATUS"), "TIMER", "DUE", "ATTEMPTS", "LAST FAILURE", "WAITS FOR"}, rows)
}

// describeWait returns the reason for a wait, with its holder and its end.
func (v timerVerbs) describeWait(w delivery.Wait) string {
	if w.WaitsFor == "" {
		return "-"
	}
	text := string(w.WaitsFor)
	if w.WaitsBy != "" {
		text += ", by " + w.WaitsBy
	}
	if w.WaitsUntil != 0 {
		text += ", until " + v.when(w.WaitsUntil)
	}
	if w.WaitsNote != "" {
		text += ": " + w.WaitsNote
	}
	return text
}

func failureOf(f *delivery.Failure) string {
	if f == nil {
		return "-"
	}
	return f.Message
}

func (v timerVerbs) showAttempts(attempts []delivery.ShownAttempt) {
	var rows [][]string
	for _, a := range attempts {
		colour, answer := green, fmt.Sprint(a.Status)
		if a.Result != delivery.ResultDelivered {
			colour = red
		}
		if a.Status == 0 {
			answer = string(a.Class)
		}
		rows = append(rows, []string{
			v.coloured(colour, string(a.Result)), fmt.Sprint(a.Round), fmt.Sprint(a.Number), v.when(a.EndedAt),
			fmt.Sprintf("%dms", a.TookMS), answer, a.RetryIn.String(), a.Worker,
		})
	}
	v.table([]string{v.coloured(plain, "RESULT"), "ROUND", "ATTEMPT", "ENDED", "TOOK", "ANSWER", "RETRY IN", "WORKER"}, rows)
}

// stopping marks the status of an object with a requested stop.
func stopping(requested bool) string {
	if requested {
		return ", cancel requested"
	}
	return ""
}
