package delivery

import (
	"strings"
	"unicode"

	"github.com/wakecall/wakecall/core/wire"
)

// Destination is where messages go, stored and shown among the fields of what has
// one. Two of them lead to the same receiver exactly when they are equal.
type Destination struct {
	// URL is called with a POST request.
	URL string `json:"url,omitzero"`
	// Broker is the name of a RabbitMQ that the operator has configured. Exchange is
	// one of its exchanges, left out for the default one, which takes the name of a queue
	// for the routing key. RoutingKey is the business type where it is left out.
	Broker     string `json:"broker,omitzero"`
	Exchange   string `json:"exchange,omitzero"`
	RoutingKey string `json:"routing_key,omitzero"`
	// Stream reports whether the receivers of the business type connect by themselves
	// (docs/streams.md). It is the policy's to say.
	Stream bool `json:"stream,omitzero"`
}

// DestinationKind says which transport a destination is reached by.
type DestinationKind string

// The closed list of kinds.
const (
	// NoDestination: it leads nowhere.
	NoDestination   DestinationKind = ""
	DestinationHTTP DestinationKind = "http"
	DestinationAMQP DestinationKind = "amqp"
	// DestinationStream: a receiver that has connected.
	DestinationStream DestinationKind = "stream"
)

// HTTP is the destination that a URL names.
func HTTP(url string) Destination { return Destination{URL: url} }

// Addressed reports whether d leads anywhere.
func (d Destination) Addressed() bool { return d != Destination{} }

// Kind is the transport's.
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

// Routed is d with the routing key that it has for a business type. That of a stream
// names the type, whose receivers are connected.
func (d Destination) Routed(businessType string) Destination {
	if (d.Broker != "" || d.Stream) && d.RoutingKey == "" {
		d.RoutingKey = businessType
	}
	return d
}

// Check returns what is wrong with the destination. One that is left out is in order.
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
			errs.Add(field.pointer, wire.CodeConflict, "goes with broker")
			continue
		}
		errs = append(errs, checkShortString(field.pointer, field.value)...)
	}
	return errs
}

// checkShortString returns what is wrong with the name of something at a broker.
func checkShortString(pointer, name string) (errs wire.FieldErrors) {
	switch {
	case len(name) > MaxShortString:
		errs.AddMost(pointer, MaxShortString, "bytes")
	case strings.ContainsFunc(name, unicode.IsControl):
		errs.Add(pointer, wire.CodeInvalidBroker, "must not contain control characters")
	}
	return errs
}

// Target is d as it may be shown: a URL without its query, in which some carry a
// secret, or a broker and where in it. User information is refused in any case.
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

// sameOrigin reports whether what was given to the one may be given to the other: both
// are the same broker, the stream, or URLs with the same scheme, host and port.
func (d Destination) sameOrigin(other Destination) bool {
	if d.Stream || other.Stream {
		return d.Stream == other.Stream
	}
	return d.Broker == other.Broker && (d.Broker != "" || sameOrigin(d.URL, other.URL))
}
