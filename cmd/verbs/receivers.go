package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/listen"
	"github.com/wakecall/wakecall/core/timer"
)

const exampleDelivery = "wcd_01JDGZ0V7Q8F3H5K9M2N4P6R8T"

// said returns a command that acknowledges a delivery.
func (s *shell) said(name, short string, say func(*cobra.Command, client.Deliveries, client.Delivery) (timer.View, bool,
	error)) *cobra.Command {
	var token string
	c := &cobra.Command{
		Use: name + " WEBHOOK-ID", Short: short, Args: cobra.ExactArgs(1), Example: "wakecall " + name + " " + exampleDelivery,
		RunE: call(s, s.showTimer, func(c *cobra.Command, wakecall *client.Client, args []string) (timer.View, error) {
			view, pending, err := say(c, wakecall.Deliveries, client.Delivery{WebhookID: args[0], Token: token})
			s.notePending(pending)
			return view, err
		}),
	}
	c.Flags().StringVar(&token, "token", "", "the header Wakecall-Ack-Token of the callback, in place of an API key")
	return c
}

func (s *shell) ack() *cobra.Command {
	var wait string
	c := s.said("ack", "Acknowledge an accepted delivery as done",
		func(c *cobra.Command, deliveries client.Deliveries, delivery client.Delivery) (view timer.View, pending bool, err error) {
			patience, err := waitOf(wait)
			if err != nil {
				return view, false, err
			}
			return deliveries.Ack(c.Context(), delivery, patience)
		})
	waitFlag(c, &wait)
	return c
}

func (s *shell) nack() *cobra.Command {
	var reason string
	var retryAfter time.Duration
	c := s.said("nack", "Acknowledge an accepted delivery as failed",
		func(c *cobra.Command, deliveries client.Deliveries, delivery client.Delivery) (timer.View, bool, error) {
			return deliveries.Nack(c.Context(), delivery, client.Failure{Reason: reason, RetryAfter: retryAfter})
		})
	c.Flags().StringVar(&reason, "reason", "", "the reason, shown as the failure of the attempt")
	addDuration(c, &retryAfter, "retry-after", "the shortest wait before the next attempt, such as 5m")
	return c
}

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
