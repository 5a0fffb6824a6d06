package verbs

import (
	"fmt"
	"strings"
	"time"
)

// barWidth is the width of a full bar, in characters.
const barWidth = 40

// bar shows progress on a terminal, in one line.
type bar struct {
	s     *shell
	began time.Time
	shown bool
}

func (s *shell) newBar() *bar { return &bar{s: s, began: s.Now()} }

// show shows done of all; all is nil while unknown.
func (b *bar) show(status string, done int, all *int) {
	if !b.s.Live {
		return
	}
	b.shown = true
	b.s.eraseLine()
	b.s.complain("%s", b.line(status, done, all))
}

// clear erases the bar.
func (b *bar) clear() {
	if b.shown {
		b.s.eraseLine()
	}
}

func (b *bar) line(status string, done int, all *int) string {
	if all == nil || *all == 0 {
		return fmt.Sprintf("%s  %d", status, done)
	}
	filled := min(barWidth*done / *all, barWidth)
	text := fmt.Sprintf("[%s%s] %3d %%  %d of %d", strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), 100*done / *all,
		done, *all)
	if took := b.s.Now().Sub(b.began); done > 0 && took > 0 && done < *all {
		left := time.Duration(float64(took) / float64(done) * float64(*all-done))
		text += "  " + left.Round(time.Second).String() + " left"
	}
	return text
}
