package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
)

const width = 40

// bar shows progress: in place on a terminal, and otherwise on a line for each event.
type bar struct {
	out     io.Writer
	inPlace bool
	now     func() time.Time
}

func newBar(out *os.File) *bar {
	info, err := out.Stat()
	return &bar{out: out, inPlace: err == nil && info.Mode()&os.ModeCharDevice != 0, now: time.Now}
}

func (b *bar) print(format string, values ...any) { _, _ = fmt.Fprintf(b.out, format, values...) }

func (b *bar) show(view dispatch.View) {
	if b.inPlace {
		b.print("\r\x1b[K%s", b.line(view))
		return
	}
	b.print("%s\n", b.line(view))
}

// line is the progress of a dispatch, its rate, and its remaining time.
func (b *bar) line(view dispatch.View) string {
	ended := view.Done + view.Failed
	if view.Items == nil || *view.Items == 0 {
		return fmt.Sprintf("%s  %d  %s", view.Status, ended, rate(view))
	}
	filled := min(width*ended / *view.Items, width)
	text := fmt.Sprintf("[%s%s] %3d %%  %d of %d  %s", strings.Repeat("#", filled), strings.Repeat(".", width-filled),
		100*ended / *view.Items, ended, *view.Items, rate(view))
	if view.Retrying > 0 {
		text += fmt.Sprintf("  %d on the ladder", view.Retrying)
	}
	if left := view.EstimatedEnd.Until(b.now()); !view.EstimatedEnd.IsZero() && left > 0 {
		text += fmt.Sprintf("  %s left", left.Round(time.Second))
	}
	return text
}

func rate(view dispatch.View) string { return fmt.Sprintf("%.1f/s", view.Achieved.LastSecond) }
