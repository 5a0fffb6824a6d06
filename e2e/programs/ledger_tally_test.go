package programs

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/slo"
)

// tally is the count by hand of a business type. It uses nothing of how the ledgers count.
type tally struct {
	slo.Report
	onTime time.Duration
	// latenesses are in milliseconds.
	latenesses []int64
}

// add adds what is known of a timer.
func (l *tally) add(of slo.Report) {
	into, from := l.figures(), (&tally{Report: of}).figures()
	for name, n := range from {
		*into[name] += *n
	}
}

// late counts the lateness of a first attempt.
func (l *tally) late(ms int64) {
	ms = max(ms, 0)
	l.latenesses = append(l.latenesses, ms)
	if ms <= l.onTime.Milliseconds() {
		l.OnTime++
	}
}

// figures are the counts, by name.
func (l *tally) figures() map[string]*int64 {
	return map[string]*int64{
		"booked": &l.Booked, "bytes": &l.Bytes, "rung": &l.Rung, "on time": &l.OnTime, "unsent": &l.Unsent, "missed": &l.Missed,
		"delivered": &l.Delivered, "failed": &l.Failed, "expired": &l.Expired, "attempts": &l.Attempts,
	}
}

// differences are the figures in which a report differs.
func (l *tally) differences(got slo.Report) (found []string) {
	differ := func(name string, byHand, shown any) {
		found = append(found, fmt.Sprintf("%s: by hand %v, in the report %v", name, byHand, shown))
	}
	shown := (&tally{Report: got}).figures()
	for name, n := range l.figures() {
		if *n != *shown[name] {
			differ(name, *n, *shown[name])
		}
	}
	slices.Sort(l.latenesses)
	if worst := l.latenesses[len(l.latenesses)-1]; worst != *got.WorstMS {
		differ("worst", worst, *got.WorstMS)
	}
	if share := float64(l.OnTime) / float64(l.Rung+l.Missed); math.Abs(share-*got.Share) > 1e-9 {
		differ("share", share, *got.Share)
	}
	if by := got.Objective.JudgedBy; by != slo.Promise(l.onTime) {
		differ("judged by", l.onTime, by)
	}
	for q, shown := range map[float64]int64{0.5: *got.P50MS, 0.99: *got.P99MS} {
		exact := l.latenesses[max(int(math.Ceil(float64(len(l.latenesses))*q)), 1)-1]
		if shown < exact || float64(shown) > float64(exact)*1.0625 {
			differ(fmt.Sprintf("quantile %f", q), exact, shown)
		}
	}
	return found
}
