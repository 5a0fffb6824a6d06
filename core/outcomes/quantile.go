package outcomes

import "math"

// Quantile returns the least lateness that a share q of observations does not exceed, in the unit of the
// bounds. counts has the observations of each bucket up to its bound, and at its end those above
// the last bound. Within a bucket, observations are taken to be spread evenly. worst is the
// greatest observation, so that of a single one each quantile is exact. ok is false without observations.
func Quantile(q float64, bounds []float64, counts []uint64, worst float64) (value float64, ok bool) {
	var total uint64
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	rank, below := max(math.Ceil(q*float64(total)), 1), uint64(0)
	for i, n := range counts {
		if n == 0 || float64(below+n) < rank {
			below += n
			continue
		}
		lower, upper := 0.0, worst
		if i > 0 {
			lower = bounds[i-1]
		}
		if i < len(bounds) {
			upper = min(bounds[i], worst)
		}
		lower = min(lower, upper)
		return lower + (upper-lower)*(rank-float64(below))/float64(n), true
	}
	return worst, true
}
