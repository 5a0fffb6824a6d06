package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/core/wire"
)

// durationFlag is a flag with the API's form of a duration, such as "3d".
type durationFlag struct{ to *time.Duration }

func addDuration(c *cobra.Command, to *time.Duration, name, usage string) {
	c.Flags().Var(durationFlag{to}, name, usage)
	c.Flags().Lookup(name).DefValue = "" // help shows no default of 0s
}

func (f durationFlag) String() string { return f.to.String() }

// Set implements [github.com/spf13/pflag.Value].
func (f durationFlag) Set(text string) error {
	var d wire.Duration
	err := d.UnmarshalText([]byte(text))
	*f.to = d.D()
	return err
}

// Type implements [github.com/spf13/pflag.Value].
func (durationFlag) Type() string { return "duration" }
