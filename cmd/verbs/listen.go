package verbs

import (
	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd/listen"
)

func (s *shell) listen() *cobra.Command {
	var options listen.Options
	c := &cobra.Command{
		Use: "listen --type TYPE", Short: "Connect as a receiver, and pass each ring to a local server", Args: cobra.NoArgs,
		Example: "wakecall listen --type order-close --forward http://127.0.0.1:3000/hooks",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		settings, err := s.settings()
		if err != nil {
			return err
		}
		options.Server, options.Key = settings.URL, settings.APIKey
		return listen.Run(c.Context(), options, s.Out)
	}
	c.Flags().StringVar(&options.BusinessType, "type", "", "the business type to receive rings of")
	c.Flags().StringVar(&options.Forward, "forward", "", "the URL to call for each ring; without it, rings are printed and acknowledged")
	c.Flags().IntVar(&options.Window, "window", 0, "how many rings are under way at once; 0 for the server's default")
	_ = c.MarkFlagRequired("type")
	return withoutJSON(c)
}
