package policy

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// TLS extends the TLS of a business type's callbacks and alerts.
type TLS struct {
	// CA has certificates in PEM that may sign a receiver's, in addition to Wakecall's own.
	CA string `json:"ca,omitzero"`
	// ClientCertificate, in PEM with its chain, and ClientKey identify Wakecall to the policy's
	// own receiver on request. The key is sealed before it reaches Temporal, and never shown.
	ClientCertificate string `json:"client_certificate,omitzero"`
	ClientKey         string `json:"client_key,omitzero"`
}

// Masked returns t for display.
func (t *TLS) Masked() *TLS {
	if t == nil || t.ClientKey == "" {
		return t
	}
	masked := *t
	masked.ClientKey = delivery.Hidden
	return &masked
}

// Trust returns t without the client certificate, for receivers that the policy does not name.
func (t *TLS) Trust() *TLS {
	if t == nil || t.CA == "" {
		return nil
	}
	return &TLS{CA: t.CA}
}

// Check returns what is wrong with t.
func (t TLS) Check() (errs wire.FieldErrors) {
	if t == (TLS{}) {
		errs.AddBeside("", wire.CodeRequired, "name a ca, or a client_certificate and its client_key", "")
	}
	for _, field := range []struct{ pointer, text string }{
		{"/ca", t.CA}, {"/client_certificate", t.ClientCertificate}, {"/client_key", t.ClientKey},
	} {
		if len(field.text) > MaxPEM {
			errs.AddMost(field.pointer, MaxPEM, "bytes")
		}
	}
	if len(errs) > 0 {
		return errs
	}
	if t.CA != "" && !isBundle(t.CA) {
		errs.Add("/ca", wire.CodeInvalidCertificate, "must be one or more certificates in PEM")
	}
	return append(errs, t.checkClient()...)
}

func (t TLS) checkClient() (errs wire.FieldErrors) {
	switch {
	case t.ClientCertificate == "" && t.ClientKey == "":
	case t.ClientKey == "":
		errs.Add("/client_key", wire.CodeRequired, "is required with client_certificate")
	case t.ClientCertificate == "":
		errs.Add("/client_certificate", wire.CodeRequired, "is required with client_key")
	case !isBundle(t.ClientCertificate):
		errs.Add("/client_certificate", wire.CodeInvalidCertificate, "must be a certificate in PEM, its chain behind it")
	case t.ClientKey != delivery.Hidden:
		if _, err := tls.X509KeyPair([]byte(t.ClientCertificate), []byte(t.ClientKey)); err != nil {
			errs.Add("/client_key", wire.CodeInvalidCertificate, "must be the private key of client_certificate, in PEM and not encrypted")
		}
	}
	return errs
}

// isBundle reports whether a text is certificates in PEM.
func isBundle(text string) bool {
	_, err := Certificates([]byte(text))
	return err == nil
}

var (
	errNoCertificate = errors.New("has no certificate in PEM")
	errBroken        = errors.New("has a PEM block that is cut off or malformed")
)

// Certificates reads a bundle of certificates in PEM. It skips text between them; any other PEM
// block is an error.
func Certificates(bundle []byte) (found []*x509.Certificate, err error) {
	blocks, err := Blocks(bundle)
	switch {
	case err != nil:
		return nil, err
	case !slices.ContainsFunc(blocks, isCertificate):
		return nil, errNoCertificate
	}
	for _, block := range blocks {
		if !isCertificate(block) {
			return nil, fmt.Errorf("has a %s where a certificate should be", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("has a certificate that cannot be read: %w", err)
		}
		found = append(found, certificate)
	}
	return found, nil
}

func isCertificate(block *pem.Block) bool { return block.Type == "CERTIFICATE" }

// beginning is how each block of PEM begins.
const beginning = "-----BEGIN "

// Blocks returns the blocks of a text in PEM. [pem.Decode] skips what it cannot read, and an authority or
// a part of a chain would be missing without a word.
func Blocks(text []byte) (blocks []*pem.Block, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		blocks = append(blocks, block)
	}
	if bytes.Count(text, []byte(beginning)) != len(blocks) {
		return nil, errBroken
	}
	return blocks, nil
}
