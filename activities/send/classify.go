package send

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/errtype"
)

// Classify names the class of a network or TLS error. The error's own text may name an
// address, and is not shown.
func Classify(err error) delivery.FailureClass {
	if class := classifyTLS(err); class != delivery.NoFailure {
		return class
	}
	switch {
	case wantsResources(err):
		return delivery.OutOfResources
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return delivery.BlockedAddress
	case isTimeout(err):
		return delivery.Timeout
	case errtype.Is[*net.DNSError](err):
		return delivery.DNSFailure
	case isDial(err):
		return delivery.ConnectFailure
	default:
		return delivery.BrokenAnswer
	}
}

// wants are the errors of a host that lacks files, sockets, ports or memory. They say
// nothing of the receiver.
var wants = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// wantsResources reports whether an attempt failed for lack of local resources. The resolver
// keeps only the text of its error.
func wantsResources(err error) bool {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return slices.ContainsFunc(wants, func(want error) bool { return strings.Contains(lookup.Err, want.Error()) })
	}
	return slices.ContainsFunc(wants, func(want error) bool { return errors.Is(err, want) })
}

// classifyTLS is the class of an error that is known to be of TLS.
func classifyTLS(err error) delivery.FailureClass {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return delivery.TLSExpired
	}
	switch {
	case errtype.Is[x509.UnknownAuthorityError](err):
		return delivery.TLSUnknownIssuer
	case errtype.Is[x509.HostnameError](err):
		return delivery.TLSWrongName
	case errtype.Is[tls.RecordHeaderError](err), errors.Is(err, http.ErrSchemeMismatch):
		return delivery.TLSProtocol
	case errtype.Is[*tls.CertificateVerificationError](err), errtype.Is[x509.CertificateInvalidError](err):
		return delivery.TLSFailure
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == remote {
		return classifyAlert(op.Err)
	}
	return delivery.NoFailure
}

// remote is the operation of a [net.OpError] that carries the other side's TLS alert.
const remote = "remote error"

// The alerts of RFC 8446, section 6, that name a cause.
const (
	alertHandshakeFailure    = 40
	alertBadCertificate      = 42
	alertCertificateUnknown  = 46
	alertUnknownCA           = 48
	alertAccessDenied        = 49
	alertProtocolVersion     = 70
	alertUnrecognizedName    = 112
	alertCertificateRequired = 116
	alertNoProtocol          = 120
)

// classifyAlert is the class of an alert. crypto/tls returns it as a number of an unexported
// type.
func classifyAlert(err error) delivery.FailureClass {
	alert := reflect.ValueOf(err)
	if alert.Kind() != reflect.Uint8 {
		return delivery.TLSFailure
	}
	switch code := alert.Uint(); {
	case code >= alertBadCertificate && code <= alertCertificateUnknown,
		code == alertUnknownCA, code == alertAccessDenied, code == alertCertificateRequired:
		return delivery.TLSClientCertificate
	case code == alertHandshakeFailure, code == alertProtocolVersion, code == alertNoProtocol:
		return delivery.TLSProtocol
	case code == alertUnrecognizedName:
		return delivery.TLSWrongName
	default:
		return delivery.TLSFailure
	}
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
