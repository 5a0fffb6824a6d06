package delivery

import (
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Failure says why an attempt did not deliver.
type Failure struct {
	Status int `json:"status,omitzero"` // HTTP status, left out when there was none
	// Class is left out where no attempt was made.
	Class   FailureClass `json:"class,omitzero"`
	Message string       `json:"message"`
	At      wire.Instant `json:"at,omitzero"`
}

// Reason is what the receiver said when it nacked, without the class in front.
func (f Failure) Reason() string {
	_, reason, _ := strings.Cut(f.Message, string(f.Class)+": ")
	return reason
}

// RefusedItem stands before the reason for which a receiver refused one item of a page.
const RefusedItem = "refused: "

// leftOut stands for words that the reader has no right to see.
const leftOut = "(left out)"

// WithoutReason is the failure without the words of the receiver, and says so.
func (f Failure) WithoutReason() Failure {
	switch {
	case f.Class == Nacked && f.Reason() != "":
		f.Message = string(Nacked) + ": " + leftOut
	case f.Class == Answered && strings.HasPrefix(f.Message, RefusedItem):
		f.Message = RefusedItem + leftOut
	}
	return f
}

// Fault is what went wrong in Wakecall itself.
type Fault string

// The closed list of faults. What an error says of itself may name an address, a file or a
// secret, and stands in the log only.
const (
	// PolicyUnread: what an attempt needs of the policy could not be told.
	PolicyUnread Fault = "Wakecall could not read the policy"
	// DeliveryBroken: the delivery ended without a report.
	DeliveryBroken Fault = "Wakecall could not carry on with the delivery"
	// ShardBroken: a shard of a dispatch ended without a report.
	ShardBroken Fault = "Wakecall could not carry on with the shard"
	// PageUnread: a page of items could not be read or stored.
	PageUnread Fault = "Wakecall could not read the page"
)

// Failure is the fault as a timer or a dispatch shows it. It has no class, since nobody was
// called.
func (f Fault) Failure(at wire.Instant) *Failure { return &Failure{Message: string(f), At: at} }

// FailureClass says in one word why an attempt did not deliver. Callers learn no more of
// a failed connection: with an address, or the words of a resolver, they could explore
// the network behind Wakecall (blind SSRF).
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
	// NoReceiver: neither the timer nor its policy names a URL, or there is no
	// policy any more. There may be one again by the next attempt.
	NoReceiver FailureClass = "no_receiver"
	// OutOfResources: Wakecall itself had no room for a connection. Nobody was called, and it
	// uses up no attempt.
	OutOfResources FailureClass = "out_of_resources"
	// SealedHeader: no configured secret key opens a header of the timer.
	SealedHeader FailureClass = "sealed_header"

	// TLSExpired: the receiver's certificate has expired or is not valid yet.
	TLSExpired FailureClass = "tls_expired"
	// TLSUnknownIssuer: no root that is trusted has signed it.
	TLSUnknownIssuer FailureClass = "tls_unknown_issuer"
	// TLSWrongName: it is another host's.
	TLSWrongName FailureClass = "tls_wrong_name"
	// TLSProtocol: no version or cipher of TLS is common, or it is not TLS.
	TLSProtocol FailureClass = "tls_protocol"
	// TLSClientCertificate: the receiver demands a client certificate, or
	// refuses the one of the policy.
	TLSClientCertificate FailureClass = "tls_client_certificate"
	// TLSFailure is every other failure of a handshake.
	TLSFailure FailureClass = "tls_failure"

	// Refused: a broker refused the message, or whoever connects to it, or a receiver on
	// a stream did.
	Refused FailureClass = "refused"
	// Unroutable: no queue of the broker takes the message, or its exchange is not there.
	Unroutable FailureClass = "unroutable"
	// BrokerBlocked: the broker accepts no messages, for want of memory or disk.
	BrokerBlocked FailureClass = "broker_blocked"

	// Nacked: the receiver had accepted it, and said later that it failed.
	Nacked FailureClass = "nacked"
	// Unacknowledged: the receiver had accepted it, and said nothing in time.
	Unacknowledged FailureClass = "unacknowledged"

	// Answered is the class of a failure that is the receiver's own answer.
	Answered FailureClass = "http"
)

// FailureClasses lists every class that a failure may have.
func FailureClasses() []FailureClass {
	return []FailureClass{
		Answered, BlockedAddress, DNSFailure, ConnectFailure, Timeout, BrokenAnswer, BadRequest, NoReceiver, OutOfResources, SealedHeader,
		TLSExpired, TLSUnknownIssuer, TLSWrongName, TLSProtocol, TLSClientCertificate, TLSFailure,
		Refused, Unroutable, BrokerBlocked, Nacked, Unacknowledged,
	}
}

// explained says what a class means where its name alone leaves the reader
// guessing.
var explained = map[FailureClass]string{
	TLSExpired:           "the receiver's certificate has expired or is not valid yet",
	TLSUnknownIssuer:     "the receiver's certificate was signed by nobody who is trusted",
	TLSWrongName:         "the receiver's certificate is another host's",
	TLSProtocol:          "the receiver speaks no TLS, or no version or cipher of it that is allowed",
	Unacknowledged:       "the receiver accepted it, and said nothing more in time",
	TLSClientCertificate: "the receiver demands a client certificate, or refuses the one it was shown",
}

// describe is the class in a failure's message.
func (t FailureClass) describe() string {
	if why := explained[t]; why != "" {
		return string(t) + ": " + why
	}
	return string(t)
}
