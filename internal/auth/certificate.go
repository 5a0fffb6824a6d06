package auth

import (
	"crypto/x509"
	"time"
)

// certified returns the owner of a certificate, by its common name. It checks the time, because
// a connection may outlive its certificate.
func (m Mappings) certified(certificate *x509.Certificate, now time.Time) (*Principal, error) {
	subject := certificate.Subject
	if CheckName(subject.CommonName) != nil || now.After(certificate.NotAfter) {
		return nil, ErrUnknown
	}
	return &Principal{
		Name: subject.CommonName, ID: subject.String(), By: ByCertificate, Grants: m.Grants(subject.CommonName), Ends: certificate.NotAfter,
	}, nil
}
