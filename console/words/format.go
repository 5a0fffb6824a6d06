package words

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Speech is a language at a time: how numbers, times and texts are said on one page.
type Speech struct {
	Lang Language
	Now  time.Time
	// Still has texts left out that time alone changes.
	Still bool
}

// IsEnglish reports whether the page is in the language of the API's own words.
func (s *Speech) IsEnglish() bool { return s.Lang == English }

// T says something by its key in the catalogues.
func (s *Speech) T(key string, with ...any) string { return s.Lang.Say(key, with...) }

// Head is what T says with a capital letter first, as the headings of tables have it.
func (s *Speech) Head(key string) string { return Capital(s.T(key)) }

// Capital is a text with a capital letter first.
func Capital(text string) string {
	first, width := utf8.DecodeRuneInString(text)
	if width == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[width:]
}

// N says how many there are of something.
func (s *Speech) N(key string, n int) string { return s.Lang.count(key, n) }

// KeyFor is the key of a text about a number, for a text that has other values too.
func (s *Speech) KeyFor(key string, n int) string { return s.Lang.keyOf(key, n) }

// Units of time.
const (
	Minute = time.Minute
	Hour   = time.Hour
	Day    = 24 * Hour
)

// ISO is a time for programs.
func ISO(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// UTC is a time for people.
func UTC(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// InZone is a time on a clock in a zone, with the day of the week.
func (s *Speech) InZone(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	return s.T("weekday."+strconv.Itoa(int(t.Weekday()))) + t.Format(" 2006-01-02 15:04:05 ") + zone.String()
}

// at is a time as short as it is clear: of today without the day.
func (s *Speech) at(t time.Time) string {
	if s.isToday(t) {
		return t.UTC().Format("15:04:05 UTC")
	}
	return UTC(t)
}

func (s *Speech) isToday(t time.Time) bool {
	return t.UTC().Truncate(Day).Equal(s.Now.UTC().Truncate(Day))
}

// Ago is how far a time is from now, in one unit: "in 4 min", "2 h ago".
func (s *Speech) Ago(t time.Time) string {
	if s.Still {
		return ""
	}
	distance := t.Sub(s.Now)
	if distance < 0 {
		return s.T("time.ago", s.roughly(-distance))
	}
	return s.T("time.in", s.roughly(distance))
}

// Span is a duration in one unit, rounded down, or in two where it would be off by more than a tenth.
func (s *Speech) Span(d time.Duration) string {
	rough := s.roughly(d)
	switch {
	case d >= 2*Minute && d < 10*Minute && d%Minute >= time.Second:
		return rough + " " + s.T("time.s", int(d%Minute/time.Second))
	case d >= 2*Hour && d < 10*Hour && d%Hour >= Minute:
		return rough + " " + s.T("time.min", int(d%Hour/Minute))
	case d >= 2*Day && d < 10*Day && d%Day >= Hour:
		return rough + " " + s.T("time.h", int(d%Day/Hour))
	}
	return rough
}

// roughly is a duration in one unit, rounded down.
func (s *Speech) roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return s.T("time.ms", int(d.Milliseconds()))
	case d < 2*time.Minute:
		return s.T("time.s", int(d.Seconds()))
	case d < 2*time.Hour:
		return s.T("time.min", int(d.Minutes()))
	case d < 2*Day:
		return s.T("time.h", int(d.Hours()))
	default:
		return s.T("time.d", int(d/Day))
	}
}

// exactUnits are the units of [Speech.Exactly], the longest first.
var exactUnits = []struct {
	of  time.Duration
	key string
}{{Hour, "time.h"}, {Minute, "time.min"}, {time.Second, "time.s"}, {time.Millisecond, "time.ms"}}

// Exactly is a duration of the API in words, to the millisecond. A text that is none stays as it is.
func (s *Speech) Exactly(text string) string {
	left, err := time.ParseDuration(text)
	if err != nil || left < time.Millisecond {
		return text
	}
	var said []string
	for _, unit := range exactUnits {
		if n := left / unit.of; n > 0 {
			said = append(said, s.T(unit.key, int(n)))
			left -= n * unit.of
		}
	}
	return strings.Join(said, " ")
}

// Milliseconds says a number of them exactly, in longer units where there are many.
func (s *Speech) Milliseconds(n int64) string {
	if d := time.Duration(n) * time.Millisecond; d >= time.Second {
		return s.Exactly(d.String())
	}
	return s.T("time.ms", n)
}

// Rate is a number a second, without needless digits.
func Rate(perSecond float64) string { return grouped(strconv.FormatFloat(perSecond, 'f', -1, 64)) }

// PerMinute is a rate a second as one a minute, to a millionth: floating point makes 3.5999999999999996 of 0.06.
func PerMinute(perSecond float64) string {
	const finest = 1e6
	return Rate(math.Round(perSecond*Minute.Seconds()*finest) / finest)
}

// Speed is a number a second that was measured, to a tenth.
func Speed(perSecond float64) string { return grouped(strconv.FormatFloat(perSecond, 'f', 1, 64)) }

// Late says by how much something was late, to the millisecond; "" where that is not known.
func (s *Speech) Late(ms *int64) string {
	if ms == nil {
		return ""
	}
	return s.T("chart.late", s.Milliseconds(*ms))
}

// MS is a number of milliseconds, negative for none.
func (s *Speech) MS(ms float64) string {
	switch {
	case ms < 0:
		return ""
	case ms < 10:
		return s.T("time.ms.exact", strconv.FormatFloat(ms, 'f', 1, 64))
	default:
		return s.Span(time.Duration(ms) * time.Millisecond)
	}
}

// Num is a number with its thousands apart.
func (s *Speech) Num(n int) string {
	if n < 0 {
		return "-" + s.Num(-n)
	}
	return grouped(strconv.Itoa(n))
}

// grouped is a number with the thousands of its whole part apart.
func grouped(number string) string {
	whole, tenths, fraction := strings.Cut(number, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction {
		whole += "." + tenths
	}
	return whole
}

// bigUnit is a number with a sign of its own.
type bigUnit struct {
	of   int
	sign string
}

// bigUnits are the units of big numbers, the largest first.
var bigUnits = map[Language][]bigUnit{
	English: {{1_000_000, "M"}, {1_000, "k"}},
	chinese: {{100_000_000, "亿"}, {10_000, "万"}},
}

// Short is a number in at most four places, rounded down.
func (s *Speech) Short(n int) string {
	units := bigUnits[s.Lang]
	at := slices.IndexFunc(units, func(unit bigUnit) bool { return n >= max(unit.of, 10_000) })
	if at < 0 {
		return strconv.Itoa(n)
	}
	whole, tenth := n/units[at].of, n%units[at].of*10/units[at].of
	if whole < 10 && tenth > 0 {
		return strconv.Itoa(whole) + "." + strconv.Itoa(tenth) + units[at].sign
	}
	return strconv.Itoa(whole) + units[at].sign
}
