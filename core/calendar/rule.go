package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
	_ "time/tzdata" // a rule must mean the same on a machine without zone files
)

// Rule defines the moments at which something rings: the matches of cron expressions, a fixed
// rate, or a list. A rule with none of them never rings.
type Rule struct {
	// Crons are cron expressions. A moment that several match rings once.
	Crons []string
	Form  Form
	// Every is the time between two moments of a fixed rate, at least one millisecond; 0 with
	// Crons. Anchor is the first moment, and the others lie a whole number of steps after it.
	Every  time.Duration
	Anchor time.Time
	// Moments ring once each, in order. They exclude Crons and Every.
	Moments []time.Time
	// Timezone is an IANA name, empty for UTC. Crons and Exclude are read in it.
	Timezone string
	// Exclude lists dates such as 2027-12-25 and cron expressions of five fields. Each
	// expression excludes whole minutes.
	Exclude []string
	// From and To bound the moments, both included. A To of zero is no bound.
	From, To time.Time
	// Steps bounds the search for all moments of the schedule together, in days and moments
	// examined. After that many steps the schedule ends. 0 means no bound but that of each
	// search.
	Steps int
}

var (
	errUnknownZone = errors.New("must be a time zone of the IANA database such as Europe/Berlin")
	errNoSuchDate  = errors.New("must be a date of the calendar such as 2027-12-25")
	errNeverRings  = errors.New("never rings: no calendar has such a day")
	errStep        = errors.New("must be at least 1ms")
)

// CheckCron returns what is wrong with a cron expression: its form, or that no day matches.
func CheckCron(text string, form Form) error {
	read, err := parse(text, form)
	if err != nil {
		return err
	}
	// The calendar repeats itself after 400 years, but no match is rarer than searchYears.
	anyDay := walk{expression: read, search: openSearch(time.UTC)}
	if _, ok := anyDay.next(0); !ok {
		return errNeverRings
	}
	return nil
}

// Meaning returns the same text for all spellings of a cron expression: with names or numbers,
// as ranges or lists, with or without seconds. It returns an invalid expression unchanged.
func Meaning(text string, form Form) string {
	parsed, err := parse(text, form)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%+v", parsed)
}

// CheckTimezone returns what is wrong with the name of a time zone.
func CheckTimezone(name string) error {
	_, err := zoneOf(name)
	return err
}

// CheckExclusion returns what is wrong with one entry of [Rule.Exclude].
func CheckExclusion(text string) error { return newExclusions().add(text) }

// zoneName is the form of the names in the IANA database. A directory of time zones also has
// files such as localtime, posixrules and right/UTC. They differ between machines, or count leap
// seconds.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}$`)

// notZones have the form of a zone but are none. "Local" differs between machines, and "Factory"
// stands for a zone that was not set.
var notZones = []string{"Local", "Factory"}

// zoneOf loads a time zone by name; "" is UTC.
func zoneOf(name string) (*time.Location, error) {
	if name != "" && !zoneName.MatchString(name) || slices.Contains(notZones, name) {
		return nil, errUnknownZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errUnknownZone
	}
	return zone, nil
}

// Schedule parses the rule. It fails if one of the checks does. The exception is an expression
// that never rings: its schedule is empty.
func (r Rule) Schedule() (*Schedule, error) {
	zone, err := zoneOf(r.Timezone)
	if err != nil {
		return nil, err
	}
	s := Schedule{search: openSearch(zone), from: max(millisOf(r.From), 0), to: lastSecond * 1000}
	if !r.To.IsZero() {
		s.to = min(s.to, millisOf(r.To))
		s.search.to = int64(s.to) / 1000
	}
	if r.Steps != 0 {
		s.left = r.Steps
	}
	for _, text := range r.Exclude {
		if err := s.exclude.add(text); err != nil {
			return nil, err
		}
	}
	s.series, err = r.series(s.search)
	return &s, err
}

func (r Rule) series(search *search) (series, error) {
	switch {
	case len(r.Moments) > 0:
		return newMoments(r, search), nil
	case r.Every != 0:
		return newGrid(r, search)
	default:
		read, err := r.expressions()
		return newMerged(read, search), err
	}
}

// expressions returns the distinct expressions of a rule.
func (r Rule) expressions() (all []expression, err error) {
	for _, text := range r.Crons {
		read, err := parse(text, r.Form)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, read) {
			all = append(all, read)
		}
	}
	return all, nil
}
