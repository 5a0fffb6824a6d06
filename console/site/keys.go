package site

import "strings"

// key is what keys of the keyboard do. Our script knows them too.
type key struct {
	press string
	// Does is a key of the catalogues.
	Does string
}

// Keys are what is pressed, one after the other.
func (k key) Keys() []string { return strings.Fields(k.press) }

// keys are those of every page, as the help names them.
var keys = []key{
	{"/", "search"},
	{"g o", "overview.title"}, {"g t", "timers.title"}, {"g y", "types.title"}, {"g j", "jobs.title"},
	{"g d", "dispatches.title"}, {"g f", "forecast.title"}, {"g e", "emergency.title"}, {"g h", "health.title"}, {"g a", "audit.title"},
	{"j k", "keys.rows"}, {"x", "column.select"}, {"Enter", "keys.open"},
	{"r", "action.redeliver"}, {"c", "action.cancel"}, {"p", "keys.pause"},
	{"?", "keys.title"}, {"Esc", "keys.back"},
}

// Keys are what keys do.
func (f Frame) Keys() []key { return keys }
