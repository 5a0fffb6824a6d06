package calendar

import "time"

// mostOffset is more than any wall clock differs from UTC.
const mostOffset = 26 * hourSeconds

// Local returns the moment at which a wall clock in a time zone shows the civil time of wall in
// UTC. A skipped time becomes the moment after the skip. A repeated time becomes its first
// moment. These are the rules of a cron expression that names a time of the day. The error is
// that of [CheckTimezone].
func Local(wall time.Time, timezone string) (time.Time, error) {
	zone, err := zoneOf(timezone)
	if err != nil {
		return time.Time{}, err
	}
	shown := wall.Unix()
	for second := shown - mostOffset; ; {
		s := spanAt(second, zone)
		if shown < s.end+s.offset || second > shown+mostOffset {
			at := time.Unix(max(shown-s.offset, s.start), 0)
			if shown-s.offset >= s.start {
				at = at.Add(time.Duration(wall.Nanosecond()))
			}
			return at.UTC(), nil
		}
		second = s.end
	}
}
