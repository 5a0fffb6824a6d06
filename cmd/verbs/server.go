package verbs

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/terminal"
)

func (s *shell) serverCommands() *cobra.Command {
	return program.Group("server", "Query the server",
		s.about(),
		s.health("live", "Show whether the server is alive", func(c *cobra.Command, server client.Server) (client.Health, error) { return server.Live(c.Context()) }),
		s.health("ready", "Show whether a timer booked now would ring", func(c *cobra.Command, server client.Server) (client.Health, error) {
			return server.Ready(c.Context())
		}),
		s.copied("metrics", "Print the metrics, for Prometheus", func(c *cobra.Command, server client.Server, to io.Writer) error {
			return server.Metrics(c.Context(), to)
		}),
		s.copied("openapi", "Print the OpenAPI description", func(c *cobra.Command, server client.Server, to io.Writer) error {
			return server.Description(c.Context(), to)
		}),
	)
}

func (s *shell) about() *cobra.Command {
	return &cobra.Command{
		Use: "about", Short: "Show the name, version and links of the server", Args: cobra.NoArgs, Example: "wakecall server about",
		RunE: call(s, s.showAbout, func(c *cobra.Command, wakecall *client.Client, _ []string) (client.About, error) {
			return wakecall.Server.About(c.Context())
		}),
	}
}

func (s *shell) showAbout(about client.About) {
	version := about.Version
	if version == "" {
		version = "-"
	}
	s.table([]string{"NAME", "VERSION", "API", "DOCS"},
		[][]string{{s.safe(about.Name), s.safe(version), s.safe(about.Links["api"]), s.safe(about.Links["docs"])}})
}

func (s *shell) health(name, short string, ask func(*cobra.Command, client.Server) (client.Health, error)) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, Example: "wakecall server " + name,
		RunE: call(s, s.showHealth, func(c *cobra.Command, wakecall *client.Client, _ []string) (client.Health, error) {
			return ask(c, wakecall.Server)
		}),
	}
}

func (s *shell) showHealth(health client.Health) {
	note := "-"
	if health.Note != "" {
		note = health.Note
	}
	s.table([]string{s.coloured(plain, "STATUS"), "NOTE"}, [][]string{{s.coloured(green, health.Status), note}})
}

// copied returns a command with a text as its answer.
func (s *shell) copied(name, short string, copyTo func(*cobra.Command, client.Server, io.Writer) error) *cobra.Command {
	return withoutJSON(&cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, Example: "wakecall server " + name,
		RunE: func(c *cobra.Command, _ []string) error {
			wakecall, err := s.client()
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := copyTo(c, wakecall.Server, &text); err != nil {
				return err
			}
			_, err = terminal.Writer(s.Out).Write(text.Bytes())
			return err
		},
	})
}
