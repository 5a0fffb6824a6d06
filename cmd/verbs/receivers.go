package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/listen"
	"github.com/wakecall/wakecall/core/timer"
)

const exampleDelivery = "msg_mfrggzdfmztwq2lknnwg23tpoa"

// receiverVerbs are the commands of receivers.
type receiverVerbs struct{ timerVerbs }

// acknowledgement sends the result of a delivery. pending reports that no worker has applied it yet.
type acknowledgement func(c *cobra.Command, deliveries client.Deliveries, one client.Delivery) (view timer.View, pending bool, err error)

// acknowledging returns a command that acknowledges a delivery.
func (v receiverVerbs) acknowledging(name, short string, send acknowledgement) *cobra.Command {
	var token string
	c := &cobra.Command{
		Use: name + " WEBHOOK-ID", Short: short, Args: cobra.ExactArgs(1), Example: "wakecall " + name + " " + exampleDelivery,
		RunE: call(v.shell, v.showTimer, func(c *cobra.Command, wakecall *client.Client, args []string) (timer.View, error) {
			view, pending, err := send(c, wakecall.Deliveries, client.Delivery{WebhookID: args[0], Token: token})
			v.notePending(pending)
			return view, err
		}),
	}
	c.Flags().StringVar(&token, "token", "", "the header Wakecall-Ack-Token of the callback, in place of an API key")
	return c
}

func (v receiverVerbs) ack() *cobra.Command {
	var wait string
	c := v.acknowledging("ack", "Acknowledge an accepted delivery as done",
		func(c *cobra.Command, deliveries client.Deliveries, delivery client.Delivery) (view timer.View, pending bool, err error) {
			timeout, err := waitOf(wait)
			if err != nil {
				return view, false, err
			}
			return deliveries.Ack(c.Context(), delivery, timeout)
		})
	waitFlag(c, &wait)
	return c
}

func (v receiverVerbs) nack() *cobra.Command {
	var reason string
	var retryAfter time.Duration
	c := v.acknowledging("nack", "Acknowledge an accepted delivery as failed",
		func(c *cobra.Command, deliveries client.Deliveries, delivery client.Delivery) (timer.View, bool, error) {
			return deliveries.Nack(c.Context(), delivery, client.Failure{Reason: reason, RetryAfter: retryAfter})
		})
	c.Flags().StringVar(&reason, "reason", "", "the reason, shown as the failure of the attempt")
	addDuration(c, &retryAfter, "retry-after", "the shortest wait before the next attempt, such as 5m")
	return c
}

func (v receiverVerbs) listen() *cobra.Command {
	var options listen.Options
	c := &cobra.Command{
		Use: "listen --type TYPE", Short: "Connect as a receiver, and pass each ring to a local server", Args: cobra.NoArgs,
		Example: "wakecall listen --type order-close --forward http://127.0.0.1:3000/hooks",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		settings, err := v.settings()
		if err != nil {
			return err
		}
		options.Server, options.Key = settings.URL, settings.APIKey
		return listen.Run(c.Context(), options, v.Out)
	}
	c.Flags().StringVar(&options.BusinessType, "type", "", "the business type to receive rings of")
	c.Flags().StringVar(&options.Forward, "forward", "", "the URL to call for each ring; without it, rings are printed and acknowledged")
	c.Flags().IntVar(&options.Window, "window", 0, "how many rings are under way at once; 0 for the server's default")
	_ = c.MarkFlagRequired("type")
	return withoutJSON(c)
}
