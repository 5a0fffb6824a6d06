package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tenth is one tenth of the time until the last booking.
type Tenth struct {
	Figures Figures `json:"figures"`
	// Memory is the subject's memory at its end, in bytes by program.
	Memory map[string]int64 `json:"memory_bytes"`
	// Bytes is the size of its store on disk.
	Bytes int64 `json:"bytes_on_disk"`
}

// Tenths are those of a scenario that is measured in tenths.
func (r Result) Tenths() (tenths []Tenth) {
	for i, tenth := range r.Outcome.Calls.Tenths {
		figures := Figures{AddRate: float64(tenth.Timers) / tenth.End.Sub(tenth.Begin).Seconds()}
		if timers := tenth.Timers + len(r.Outcome.ByTenth[i]); timers > 0 {
			figures[CPUPerTimer] = milliseconds(total(tenth.CPU)) / float64(timers)
		}
		figures.quantiles(r.Outcome.ByTenth[i], LatenessP50, LatenessP99, LatenessMax)
		tenths = append(tenths, Tenth{Figures: figures, Memory: tenth.Memory, Bytes: tenth.Bytes})
	}
	return tenths
}

// way has a line for each measure, from the first tenth to the last.
func way(tenths []Tenth) (lines []string) {
	if len(tenths) == 0 {
		return nil
	}
	line := func(title string, figure func(Tenth) float64) {
		words := make([]string, len(tenths))
		for i, tenth := range tenths {
			words[i] = number(figure(tenth))
		}
		lines = append(lines, fmt.Sprintf("by tenths, %s: %s", title, strings.Join(words, " ")))
	}
	for _, column := range columns {
		if _, measured := tenths[0].Figures[column.measure]; measured {
			line(column.title, func(t Tenth) float64 { return t.Figures[column.measure] })
		}
	}
	line("MB on disk", func(t Tenth) float64 { return float64(t.Bytes) / (1 << 20) })
	for _, program := range slices.Sorted(maps.Keys(tenths[0].Memory)) {
		line("MB of "+program, func(t Tenth) float64 { return float64(t.Memory[program]) / (1 << 20) })
	}
	return lines
}
