package policy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

// Half of a client certificate is refused at the half that is missing.
func TestBothHalvesOfAClientCertificateAreRequired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tls           TLS
		pointer, with string
	}{
		{TLS{ClientCertificate: "a"}, "/client_key", "client_certificate"},
		{TLS{ClientKey: "b"}, "/client_certificate", "client_key"},
	} {
		require.Equal(t, wire.FieldErrors{{Pointer: c.pointer, Code: wire.CodeRequired, Detail: "is required with " + c.with}}, c.tls.Check())
	}
}

// An authority that cannot be read is not left out of a bundle without a word. Text between certificates is
// allowed, as OpenSSL writes it.
func TestEveryCertificateOfABundleCounts(t *testing.T) {
	t.Parallel()
	one := certificateOf(t)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}))
	cut := one[:len(one)-len("-----END CERTIFICATE-----\n")]
	for name, c := range map[string]struct {
		text, want string
		found      int
	}{
		"one":                {one, "", 1},
		"two":                {one + one, "", 2},
		"with text":          {"subject=a\n" + one + "\n# the second\n" + one + "the end", "", 2},
		"lines of Windows":   {strings.ReplaceAll(one+one, "\n", "\r\n"), "", 2},
		"cut off":            {one + cut, errBroken.Error(), 0},
		"cut off, the first": {cut + one, errBroken.Error(), 0},
		"indented":           {one + " " + one, errBroken.Error(), 0},
		"not base64":         {one + strings.Replace(one, "-----\n", "-----\n!", 1), errBroken.Error(), 0},
		"not a certificate":  {one + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), "cannot be read", 0},
		"a key beside it":    {one + key, "has a PRIVATE KEY", 0},
		"a key alone":        {key, errNoCertificate.Error(), 0},
		"no PEM":             {"x", errNoCertificate.Error(), 0},
	} {
		found, err := Certificates([]byte(c.text))
		require.Len(t, found, c.found, name)
		if c.want != "" {
			require.ErrorContains(t, err, c.want, name)
			require.Equal(t, wire.CodeInvalidCertificate, TLS{CA: c.text}.Check()[0].Code, name)
			continue
		}
		require.NoError(t, err, name)
		require.Empty(t, TLS{CA: c.text}.Check(), name)
	}
}

// certificateOf returns a certificate in PEM.
func certificateOf(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
