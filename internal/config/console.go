package config

import (
	"slices"
	"strings"

	"github.com/wakecall/wakecall/internal/auth"
)

// ConsoleOff disables the console. The empty text enables it.
const ConsoleOff = "off"

// ConsoleModes lists the values of WAKECALL_CONSOLE.
func ConsoleModes() []string { return []string{"on", "read-only", ConsoleOff} }

// ConsoleColours lists the values of WAKECALL_CONSOLE_COLOUR.
func ConsoleColours() []string {
	return []string{"", "blue", "green", "grey", "orange", "purple", "red"}
}

func (c Config) checkConsole(f *Faults) {
	if c.Console != "" && !slices.Contains(ConsoleModes(), c.Console) {
		f.Add("WAKECALL_CONSOLE", "must be one of %s", strings.Join(ConsoleModes(), ", "))
	}
	if !slices.Contains(ConsoleColours(), c.ConsoleColour) {
		f.Add("WAKECALL_CONSOLE_COLOUR", "must be one of %s", strings.Join(ConsoleColours()[1:], ", "))
	}
	for name, text := range map[string]string{"WAKECALL_NAME": c.Name, "WAKECALL_CONSOLE_CONTACT": c.ConsoleContact} {
		if text != "" && auth.CheckName(text) != nil {
			f.Add(name, "must be one line of printable text, of at most 128 bytes")
		}
	}
}
