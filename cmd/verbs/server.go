package verbs

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/terminal"
)

// serverVerbs are the commands on the server itself.
type serverVerbs struct{ *shell }

func (v serverVerbs) group() *cobra.Command {
	return program.Group("server", "Query the server",
		v.about(),
		v.health("live", "Show whether the server is alive", func(c *cobra.Command, server client.Server) (client.Health, error) {
			return server.Live(c.Context())
		}),
		v.health("ready", "Show whether a timer booked now would ring", func(c *cobra.Command, server client.Server) (client.Health, error) {
			return server.Ready(c.Context())
		}),
		v.copied("metrics", "Print the metrics, for Prometheus", func(c *cobra.Command, server client.Server, to io.Writer) error {
			return server.Metrics(c.Context(), to)
		}),
		v.copied("openapi", "Print the OpenAPI description", func(c *cobra.Command, server client.Server, to io.Writer) error {
			return server.Description(c.Context(), to)
		}),
	)
}

func (v serverVerbs) about() *cobra.Command {
	return &cobra.Command{
		Use: "about", Short: "Show the name, version and links of the server", Args: cobra.NoArgs, Example: "wakecall server about",
		RunE: call(v.shell, v.showAbout, func(c *cobra.Command, wakecall *client.Client, _ []string) (client.About, error) {
			return wakecall.Server.About(c.Context())
		}),
	}
}

func (v serverVerbs) showAbout(about client.About) {
	version := about.Version
	if version == "" {
		version = "-"
	}
	v.table([]string{"NAME", "VERSION", "API", "DOCS"},
		[][]string{{v.safe(about.Name), v.safe(version), v.safe(about.Links["api"]), v.safe(about.Links["docs"])}})
}

func (v serverVerbs) health(name, short string, check func(*cobra.Command, client.Server) (client.Health, error)) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, Example: "wakecall server " + name,
		RunE: call(v.shell, v.showHealth, func(c *cobra.Command, wakecall *client.Client, _ []string) (client.Health, error) {
			return check(c, wakecall.Server)
		}),
	}
}

func (v serverVerbs) showHealth(health client.Health) {
	note := "-"
	if health.Note != "" {
		note = health.Note
	}
	v.table([]string{v.coloured(plain, "STATUS"), "NOTE"}, [][]string{{v.coloured(green, health.Status), note}})
}

// copied returns a command with a text as its answer.
func (v serverVerbs) copied(name, short string, copyTo func(*cobra.Command, client.Server, io.Writer) error) *cobra.Command {
	return withoutJSON(&cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, Example: "wakecall server " + name,
		RunE: func(c *cobra.Command, _ []string) error {
			wakecall, err := v.client()
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := copyTo(c, wakecall.Server, &text); err != nil {
				return err
			}
			_, err = terminal.Writer(v.Out).Write(text.Bytes())
			return err
		},
	})
}
