package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
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
