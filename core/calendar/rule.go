package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
	_ "time/tzdata" // a rule must mean the same on a machine without zone files
)

// Rule says when something rings: whenever one of several cron expressions
// matches, at a fixed rate, or at moments that are listed. A rule with none of them
// never rings.
type Rule struct {
	// Crons are cron expressions. Moments that they share ring once.
	Crons []string
	Form  Form
	// Every is the time between two moments of a fixed rate, from one
	// millisecond on; 0 where there are Crons. The moments lie a whole number of
	// steps after Anchor, which is the first of them.
	Every  time.Duration
	Anchor time.Time
	// Moments are rung each once, in order. They stand alone.
	Moments []time.Time
	// Timezone is an IANA name, empty for UTC. Crons and Exclude are read in it.
	Timezone string
	// Exclude lists dates such as 2027-12-25 and cron expressions of five fields,
	// each of which excludes whole minutes.
	Exclude []string
	// From and To bound the moments, both included. A To of zero is no bound.
	From, To time.Time
	// Steps bounds how far all answers of the schedule together are searched for, in
	// days and moments that are looked at. A schedule that has taken them answers that
	// there are no more. 0 is no bound but the one of each search.
	Steps int
}

var (
	errUnknownZone = errors.New("must be a time zone of the IANA database such as Europe/Berlin")
	errNoSuchDate  = errors.New("must be a date of the calendar such as 2027-12-25")
	errNeverRings  = errors.New("never rings: no calendar has such a day")
	errStep        = errors.New("must be at least 1ms")
)

// CheckCron returns what is wrong with a cron expression: its form, or that no day matches it.
func CheckCron(text string, form Form) error {
	read, err := parse(text, form)
	if err != nil {
		return err
	}
	// The calendar repeats itself after 400 years, but no match is rarer than
	// searchYears.
	anyDay := walk{expression: read, search: openSearch(time.UTC)}
	if _, ok := anyDay.next(0); !ok {
		return errNeverRings
	}
	return nil
}

// Meaning is the same text for all spellings of a cron expression: with names or numbers, as
// ranges or lists, with a field for seconds or without. A text that is none is its own.
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

// zoneName is the form of the names in the database of IANA. A directory of time zones
// has files of other names, such as localtime, posixrules and right/UTC: they are other
// zones on every machine, or count leap seconds.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}$`)

// notZones have the form, and are none: "Local" is another one on every machine, and
// "Factory" stands for a machine whose zone nobody has set.
var notZones = []string{"Local", "Factory"}

// zoneOf reads the name of a time zone; none is UTC.
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

// Schedule reads the rule. It fails where one of the checks does, but for an
// expression that never rings: the schedule of that one is empty.
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

// expressions are the different ones of a rule.
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
