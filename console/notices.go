package console

import "time"

// shownNotices is how many facts stand in the strip. The others are folded.
const shownNotices = 3

// Notices are the gravest facts, and MoreNotices the others.
func (f frame) Notices() []notice     { return f.notices[:min(len(f.notices), shownNotices)] }
func (f frame) MoreNotices() []notice { return f.notices[min(len(f.notices), shownNotices):] }

// Alarm reports whether the strip says something that somebody should act on now.
func (f frame) Alarm() bool { return len(f.notices) > 0 && f.notices[0].Alarming() }

// Notice is a fact in the language of the page.
func (f frame) Notice(n notice) string {
	with := make([]any, len(n.with))
	for i, value := range n.with {
		with[i] = value
		if at, ok := value.(time.Time); ok {
			with[i] = f.At(at)
		}
		if count, ok := value.(int); ok {
			with[i] = f.Num(count)
		}
	}
	return f.T(n.key, with...)
}
