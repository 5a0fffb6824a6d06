package delivery

import (
	"strings"
	"unicode"

	"github.com/wakecall/wakecall/core/wire"
)

// Destination is where messages go. Its fields are stored and shown among those of the type that
// embeds it. Two destinations lead to the same receiver exactly if they are equal.
type Destination struct {
	// URL is called with a POST request.
	URL string `json:"url,omitzero"`
	// Broker is the name of a RabbitMQ that the operator configured. Exchange is one of its
	// exchanges; left out, it is the default one, which routes by the name of a queue.
	// RoutingKey defaults to the business type.
	Broker     string `json:"broker,omitzero"`
	Exchange   string `json:"exchange,omitzero"`
	RoutingKey string `json:"routing_key,omitzero"`
	// Stream reports whether the receivers of the business type connect to Wakecall
	// (docs/streams.md). Only the policy can set it.
	Stream bool `json:"stream,omitzero"`
}

// DestinationKind is the transport of a destination.
type DestinationKind string

// The closed list of kinds.
const (
	// NoDestination leads nowhere.
	NoDestination   DestinationKind = ""
	DestinationHTTP DestinationKind = "http"
	DestinationAMQP DestinationKind = "amqp"
	// DestinationStream is a receiver that has connected.
	DestinationStream DestinationKind = "stream"
)

// HTTP returns the destination for a URL.
func HTTP(url string) Destination { return Destination{URL: url} }

// Addressed reports whether d leads anywhere.
func (d Destination) Addressed() bool { return d != Destination{} }

// Kind returns the transport of the destination.
func (d Destination) Kind() DestinationKind {
	switch {
	case d.URL != "":
		return DestinationHTTP
	case d.Broker != "":
		return DestinationAMQP
	case d.Stream:
		return DestinationStream
	default:
		return NoDestination
	}
}

// Routed returns d with its routing key for a business type. The key of a stream is the type.
func (d Destination) Routed(businessType string) Destination {
	if (d.Broker != "" || d.Stream) && d.RoutingKey == "" {
		d.RoutingKey = businessType
	}
	return d
}

// Check returns what is wrong with the destination. An empty one is valid.
func (d Destination) Check() (errs wire.FieldErrors) {
	if d.URL != "" {
		if why := CheckURL(d.URL); why != "" {
			errs.Add("/url", wire.CodeInvalidURL, why)
		}
	}
	if d.Stream && (d.URL != "" || d.Broker != "") {
		errs.Add("/stream", wire.CodeConflict, "give one of url, broker and stream")
	}
	switch {
	case d.URL != "" && d.Broker != "":
		errs.Add("/broker", wire.CodeConflict, "give either url or broker")
	case d.Broker != "" && !wire.IsBusinessType(d.Broker):
		errs.Add("/broker", wire.CodeInvalidBroker, "must match "+wire.BusinessTypeForm)
	}
	for _, field := range []struct{ pointer, value string }{{"/exchange", d.Exchange}, {"/routing_key", d.RoutingKey}} {
		if field.value != "" && d.Broker == "" {
			errs.AddBeside(field.pointer, wire.CodeConflict, "is allowed only with broker", "/broker")
			continue
		}
		errs = append(errs, checkShortString(field.pointer, field.value)...)
	}
	return errs
}

// checkShortString returns what is wrong with a name at a broker.
func checkShortString(pointer, name string) (errs wire.FieldErrors) {
	switch {
	case len(name) > MaxShortString:
		errs.AddMost(pointer, MaxShortString, "bytes")
	case strings.ContainsFunc(name, unicode.IsControl):
		errs.Add(pointer, wire.CodeInvalidBroker, "must not contain control characters")
	}
	return errs
}

// Target returns d for display: a URL without its query, which may carry a secret, or a place at
// a broker. User information is always refused.
func (d Destination) Target() string {
	if d.Stream {
		return "stream"
	}
	if d.Broker != "" {
		return d.Broker + ":" + d.Exchange + "/" + d.RoutingKey
	}
	target, _, _ := strings.Cut(d.URL, "?")
	return target
}

// sameOrigin reports whether data for one destination may go to the other. Both are the same
// broker, the stream, or URLs with the same scheme, host and port.
func (d Destination) sameOrigin(other Destination) bool {
	if d.Stream || other.Stream {
		return d.Stream == other.Stream
	}
	return d.Broker == other.Broker && (d.Broker != "" || sameOrigin(d.URL, other.URL))
}
