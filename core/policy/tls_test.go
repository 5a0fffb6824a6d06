package policy

import (
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
