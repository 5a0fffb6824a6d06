package site

import (
	"html/template"
	"slices"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/watch"
)

// shownNotices is how many facts stand in the strip. The others are folded.
const shownNotices = 3

// Notices are the gravest facts, one for each business type.
func (f Frame) Notices() []watch.Notice {
	shown, _ := watch.Fold(f.notices, shownNotices)
	return shown
}

// MoreNotices are the others.
func (f Frame) MoreNotices() []watch.Notice {
	_, folded := watch.Fold(f.notices, shownNotices)
	return folded
}

// Alarm reports whether the strip has a fact that calls for action now.
func (f Frame) Alarm() bool { return len(f.notices) > 0 && f.notices[0].Alarming() }

// Notice is a fact in the language of the page.
func (f Frame) Notice(n watch.Notice) template.HTML {
	with := slices.Clone(n.With)
	for i, value := range with {
		if failure, ok := value.(*calls.Failure); ok {
			with[i] = failure.Short(f.Speech)
		}
	}
	return f.HTML(n.Key, with...)
}
