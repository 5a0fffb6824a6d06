package cron

// What a sentence has room for: times of the day, seconds of a minute, and stretches of minutes or days.
const (
	mostTimes   = 6
	mostSeconds = 6
	mostItems   = 12
	mostDays    = 16
	// longRun is how many numbers are said by the first and the last of them.
	longRun = 3
)

// The calendar.
const (
	inMinute     = 60
	inHour       = 60
	hoursOfDay   = 24
	daysOfWeek   = 7
	daysOfMonth  = 31
	monthsOfYear = 12
)
