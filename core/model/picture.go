package model

import (
	"fmt"
	"slices"
	"strings"
)

// Picture draws a walk as a Mermaid state diagram. It has an arrow for each pair of phases, with
// the events that lead from one to the other. It omits steps within a phase.
func Picture(edges []Edge) string {
	var text strings.Builder
	text.WriteString("stateDiagram-v2\n    [*] --> scheduled: booked\n")
	for _, from := range Phases() {
		for _, to := range Phases() {
			if events := between(edges, from, to); from != to && len(events) > 0 {
				fmt.Fprintf(&text, "    %s --> %s: %s\n", from, to, strings.Join(events, ", "))
			}
		}
	}
	for _, phase := range []Phase{Delivered, Failed, Expired, Cancelled} {
		fmt.Fprintf(&text, "    %s --> [*]\n", phase)
	}
	return text.String()
}

// between lists the events that lead from one phase to another, in the order of [Events].
func between(edges []Edge, from, to Phase) (names []string) {
	for _, e := range Events() {
		if slices.ContainsFunc(edges, func(edge Edge) bool { return edge.On == e && edge.From.Phase == from && edge.To.Phase == to }) {
			names = append(names, string(e))
		}
	}
	return names
}

// Table lists the decisions as the rows of a Markdown table: the decision, the phases and the
// events.
func (r Rules) Table() string {
	var text strings.Builder
	text.WriteString("| decision | phase | event |\n|---|---|---|\n")
	for _, d := range r {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", d.Name, joined(d.From), joined(d.On))
	}
	return text.String()
}

func joined[T ~string](words []T) string {
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = string(word)
	}
	return strings.Join(names, ", ")
}
