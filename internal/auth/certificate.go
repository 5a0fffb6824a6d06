package auth

import (
	"crypto/x509"
	"fmt"
	"time"
)

var (
	errCertificateOver = fmt.Errorf("%w: its certificate has expired", ErrUnknown)
	errNoCommonName    = fmt.Errorf("%w: the common name of its certificate is not a name", ErrUnknown)
)

// certified returns the owner of a certificate, by its common name. It checks the time, because
// a connection may outlive its certificate.
func (m Mappings) certified(certificate *x509.Certificate, now time.Time) (*Principal, error) {
	subject := certificate.Subject
	if now.After(certificate.NotAfter) {
		return nil, errCertificateOver
	}
	if CheckName(subject.CommonName) != nil {
		return nil, errNoCommonName
	}
	return &Principal{
		Name: subject.CommonName, ID: subject.String(), By: ByCertificate, Grants: m.Grants(subject.CommonName), Ends: certificate.NotAfter,
	}, nil
}
