package site

import "strings"

// key is what keys of the keyboard do. Our script knows them too.
type key struct {
	press string
	// Does is a key of the catalogues.
	Does string
}

// Keys are the keys to press, one after the other.
func (k key) Keys() []string { return strings.Fields(k.press) }

// keys are the keys of every page, in the order of the help.
var keys = []key{
	{"/", "search"},
	{"g o", "overview.title"}, {"g t", "timers.title"}, {"g y", "types.title"}, {"g j", "jobs.title"},
	{"g d", "dispatches.title"}, {"g f", "forecast.title"}, {"g e", "emergency.title"}, {"g h", "health.title"}, {"g a", "audit.title"},
	{"j k", "keys.rows"}, {"x", "column.select"}, {"Enter", "keys.open"},
	{"r", "action.redeliver"}, {"c", "action.cancel"}, {"p", "keys.pause"},
	{"?", "keys.title"}, {"Esc", "keys.back"},
}

// Keys lists the keys and their effects.
func (f *Frame) Keys() []key { return keys }
