package calendar

import "time"

// mostOffset is more than any clock on a wall differs from UTC.
const mostOffset = 26 * hourSeconds

// Local is the moment at which a clock on a wall in a time zone shows what wall shows in
// UTC. The rules are those of a cron expression that names a time of the day: a time that
// the clock jumps over is the moment at which it lands, and of one that it shows twice it
// is the first. Its error is that of [CheckTimezone].
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
