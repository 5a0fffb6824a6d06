package delivery

import (
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Failure is the reason why an attempt did not deliver.
type Failure struct {
	Status int `json:"status,omitzero"` // HTTP status, left out if there was none
	// Class is left out if no attempt was made.
	Class   FailureClass `json:"class,omitzero"`
	Message string       `json:"message"`
	At      wire.Instant `json:"at,omitzero"`
}

// Reason returns the receiver's reason for a nack, without the class.
func (f Failure) Reason() string {
	_, reason, _ := strings.Cut(f.Message, string(f.Class)+": ")
	return reason
}

// RefusedItem precedes the receiver's reason for refusing one item of a page.
const RefusedItem = "refused: "

// leftOut replaces words that the reader may not see.
const leftOut = "(left out)"

// WithoutReason returns the failure with the receiver's words replaced by a mark.
func (f Failure) WithoutReason() Failure {
	switch {
	case f.Class == Nacked && f.Reason() != "":
		f.Message = string(Nacked) + ": " + leftOut
	case f.Class == Answered && strings.HasPrefix(f.Message, RefusedItem):
		f.Message = RefusedItem + leftOut
	}
	return f
}

// Fault is an error in Wakecall itself.
type Fault string

// The closed list of faults. The text of an error may contain an address, a file name or a
// secret, so only the log has it.
const (
	// PolicyUnread: the policy could not be read for an attempt.
	PolicyUnread Fault = "Wakecall could not read the policy"
	// DeliveryBroken: the delivery ended without a report.
	DeliveryBroken Fault = "Wakecall could not continue the delivery"
	// ShardBroken: a shard of a dispatch ended without a report.
	ShardBroken Fault = "Wakecall could not continue the shard"
	// CallBroken: the call of an item ended without an outcome. The receiver may have got it.
	CallBroken Fault = "Wakecall could not make the call"
	// PageUnread: a page of items could not be read or stored.
	PageUnread Fault = "Wakecall could not read the page"
)

// Failure returns the fault in the form that a timer or a dispatch shows. It has no class, since
// there was no call.
func (f Fault) Failure(at wire.Instant) *Failure { return &Failure{Message: string(f), At: at} }

// FailureClass classifies why an attempt did not deliver. Callers learn no more about a failed
// connection. An address or a resolver's message would let them explore the network behind
// Wakecall (blind SSRF).
type FailureClass string

// The closed list of classes.
const (
	NoFailure      FailureClass = ""
	BlockedAddress FailureClass = "blocked_address"
	DNSFailure     FailureClass = "dns_failure"
	ConnectFailure FailureClass = "connect_failure"
	Timeout        FailureClass = "timeout"
	BrokenAnswer   FailureClass = "broken_answer"
	BadRequest     FailureClass = "bad_request"
	// NoReceiver: neither the timer nor its policy names a URL, or the policy is gone. The next
	// attempt may find one.
	NoReceiver FailureClass = "no_receiver"
	// OutOfResources: Wakecall itself had no room for a connection. There was no call, and the
	// attempt is not counted.
	OutOfResources FailureClass = "out_of_resources"
	// SealedHeader: no configured secret key opens a header of the timer.
	SealedHeader FailureClass = "sealed_header"

	// TLSExpired: the receiver's certificate has expired or is not valid yet.
	TLSExpired FailureClass = "tls_expired"
	// TLSUnknownIssuer: no trusted root has signed the certificate.
	TLSUnknownIssuer FailureClass = "tls_unknown_issuer"
	// TLSWrongName: the certificate belongs to another host.
	TLSWrongName FailureClass = "tls_wrong_name"
	// TLSProtocol: there is no common version or cipher of TLS, or the receiver speaks no TLS.
	TLSProtocol FailureClass = "tls_protocol"
	// TLSClientCertificate: the receiver demands a client certificate, or
	// refuses the one of the policy.
	TLSClientCertificate FailureClass = "tls_client_certificate"
	// TLSFailure is every other failure of a handshake.
	TLSFailure FailureClass = "tls_failure"

	// Refused: a broker refused the message or the connection, or a receiver on a stream refused
	// the message.
	Refused FailureClass = "refused"
	// Unroutable: no queue of the broker takes the message, or the exchange does not exist.
	Unroutable FailureClass = "unroutable"
	// BrokerBlocked: the broker accepts no messages, for want of memory or disk.
	BrokerBlocked FailureClass = "broker_blocked"

	// Nacked: the receiver accepted the message, and later reported failure.
	Nacked FailureClass = "nacked"
	// Unacknowledged: the receiver accepted the message, and did not acknowledge it in time.
	Unacknowledged FailureClass = "unacknowledged"

	// Answered is the class of a failure that is the receiver's own answer.
	Answered FailureClass = "http"
)

// FailureClasses lists every class of a failure.
func FailureClasses() []FailureClass {
	return []FailureClass{
		Answered, BlockedAddress, DNSFailure, ConnectFailure, Timeout, BrokenAnswer, BadRequest, NoReceiver, OutOfResources, SealedHeader,
		TLSExpired, TLSUnknownIssuer, TLSWrongName, TLSProtocol, TLSClientCertificate, TLSFailure,
		Refused, Unroutable, BrokerBlocked, Nacked, Unacknowledged,
	}
}

// explained describes the classes whose names are not clear enough.
var explained = map[FailureClass]string{
	TLSExpired:           "the receiver's certificate has expired or is not valid yet",
	TLSUnknownIssuer:     "the receiver's certificate is not signed by a trusted authority",
	TLSWrongName:         "the receiver's certificate is for another host",
	TLSProtocol:          "the receiver does not speak TLS, or offers no allowed version or cipher",
	Unacknowledged:       "the receiver accepted it, and did not acknowledge it in time",
	TLSClientCertificate: "the receiver requires a client certificate, or refuses ours",
}

// describe returns the class as it appears in a failure's message.
func (t FailureClass) describe() string {
	if why := explained[t]; why != "" {
		return string(t) + ": " + why
	}
	return string(t)
}
