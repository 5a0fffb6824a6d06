package timer

// Trouble is a class of failure. The class is all that a caller learns: an
// address or a resolver's words would make a blind-SSRF oracle.
type Trouble string

// The closed list of classes.
const (
	NoTrouble      Trouble = ""
	BlockedAddress Trouble = "blocked_address"
	DNSFailure     Trouble = "dns_failure"
	ConnectFailure Trouble = "connect_failure"
	Timeout        Trouble = "timeout"
	BrokenAnswer   Trouble = "broken_answer"
	BadRequest     Trouble = "bad_request"
	// NoReceiver: neither the timer nor its policy names a URL, or there is no
	// policy any more. There may be one again by the next attempt.
	NoReceiver Trouble = "no_receiver"
	// SealedHeader: no configured secret key opens a header of the timer.
	SealedHeader Trouble = "sealed_header"

	// TLSExpired: the receiver's certificate has expired or is not valid yet.
	TLSExpired Trouble = "tls_expired"
	// TLSUnknownIssuer: no root that is trusted has signed it.
	TLSUnknownIssuer Trouble = "tls_unknown_issuer"
	// TLSWrongName: it is another host's.
	TLSWrongName Trouble = "tls_wrong_name"
	// TLSProtocol: no version or cipher of TLS is common, or it is not TLS.
	TLSProtocol Trouble = "tls_protocol"
	// TLSClientCertificate: the receiver demands a client certificate, or
	// refuses the one of the policy.
	TLSClientCertificate Trouble = "tls_client_certificate"
	// TLSFailure is every other failure of a handshake.
	TLSFailure Trouble = "tls_failure"

	// Refused: a broker refused the message, or whoever connects to it.
	Refused Trouble = "refused"
	// Unroutable: no queue of the broker takes the message, or its exchange is not there.
	Unroutable Trouble = "unroutable"
	// BrokerBlocked: the broker accepts no messages, for want of memory or disk.
	BrokerBlocked Trouble = "broker_blocked"

	// Answered is the class of a failure that is the receiver's own answer.
	Answered Trouble = "http"
)

// Troubles lists every class that a failure may have.
func Troubles() []Trouble {
	return []Trouble{
		Answered, BlockedAddress, DNSFailure, ConnectFailure, Timeout, BrokenAnswer, BadRequest, NoReceiver, SealedHeader,
		TLSExpired, TLSUnknownIssuer, TLSWrongName, TLSProtocol, TLSClientCertificate, TLSFailure,
		Refused, Unroutable, BrokerBlocked,
	}
}

// explained says what a class means where its name alone leaves the reader
// guessing.
var explained = map[Trouble]string{
	TLSExpired:           "the receiver's certificate has expired or is not valid yet",
	TLSUnknownIssuer:     "the receiver's certificate was signed by nobody who is trusted",
	TLSWrongName:         "the receiver's certificate is another host's",
	TLSProtocol:          "the receiver speaks no TLS, or no version or cipher of it that is allowed",
	TLSClientCertificate: "the receiver demands a client certificate, or refuses the one it was shown",
}

// describe is the class in a failure's message.
func (t Trouble) describe() string {
	if why := explained[t]; why != "" {
		return string(t) + ": " + why
	}
	return string(t)
}
