package roles

import (
	"crypto/x509"

	"github.com/wakecall/wakecall/activities/send"
	amqpsend "github.com/wakecall/wakecall/activities/send/amqp"
	httpsend "github.com/wakecall/wakecall/activities/send/http"
	streamsend "github.com/wakecall/wakecall/activities/send/stream"
	"github.com/wakecall/wakecall/core/delivery"
)

// reach returns the allowed destinations.
func (a *App) reach() delivery.Reach {
	reach := delivery.Reach{Address: httpsend.Reach(a.Config.CallbackAllow)}
	for _, broker := range a.brokers {
		reach.Brokers = append(reach.Brokers, broker.Name)
	}
	return reach
}

// sender returns a sender with every transport. They are closed with the app.
func (a *App) sender(roots *x509.CertPool) *send.Sender {
	var brokers []amqpsend.Broker
	for _, broker := range a.brokers {
		brokers = append(brokers, amqpsend.Broker(broker))
	}
	http := httpsend.New(httpsend.Config{
		Allowed: a.Config.CallbackAllow, Roots: roots, UserAgent: "Wakecall/" + a.Version, Resent: a.Telemetry.Resent,
	})
	amqp := amqpsend.New(brokers)
	a.closing = append(a.closing, http.Close, amqp.Close)
	return send.New(send.Transports{delivery.DestinationHTTP: http, delivery.DestinationAMQP: amqp,
		delivery.DestinationStream: streamsend.New(noReceivers())}, a.Telemetry.Tracer())
}
