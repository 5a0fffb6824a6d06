package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// checkGiven refuses flags that are given but say nothing, such as an unset variable of a
// shell: to leave out the condition would make a command do more than it was told.
func checkGiven(flags *pflag.FlagSet) error {
	var wrong []error
	flags.Visit(func(flag *pflag.Flag) {
		if reason := emptiness(flag); reason != "" {
			wrong = append(wrong, fmt.Errorf("--%s %s", flag.Name, reason))
		}
	})
	if len(wrong) == 0 {
		return nil
	}
	return wrongUsage{errors.Join(wrong...)}
}

// emptiness is why the value of a flag says nothing, or "".
func emptiness(flag *pflag.Flag) string {
	text := flag.Value.String()
	negative := strings.HasPrefix(text, "-")
	switch flag.Value.Type() {
	case "string":
		if text == "" {
			return "must not be empty"
		}
	case "duration", "float64":
		if negative || text == "0" || text == "0s" {
			return "must be above 0"
		}
	case "int": // 0 is for all
		if negative {
			return "must not be negative"
		}
	}
	return ""
}
