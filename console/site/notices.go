package site

import (
	"html/template"
	"slices"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/watch"
)

// shownNotices is how many facts stand in the strip. The others are folded.
const shownNotices = 3

// strip holds the facts of the state strip.
type strip struct {
	// Notices are the gravest facts, one for each business type, and MoreNotices the others.
	Notices, MoreNotices []watch.Notice
}

// stripOf is the strip of a picture.
func stripOf(p *watch.Picture) (s strip) {
	s.Notices, s.MoreNotices = watch.Fold(watch.NoticesOf(p), shownNotices)
	return s
}

// Alarm reports whether the strip has a fact that calls for action now.
func (s *strip) Alarm() bool { return len(s.Notices) > 0 && s.Notices[0].Alarming() }

// Notice is a fact in the language of the page.
func (f *Frame) Notice(n watch.Notice) template.HTML {
	with := slices.Clone(n.With)
	for i, value := range with {
		if failure, ok := value.(*calls.Failure); ok {
			with[i] = failure.Short(f.Speech)
		}
	}
	return f.HTML(n.Key, with...)
}
