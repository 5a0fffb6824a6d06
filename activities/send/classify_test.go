package send

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
)

// A receiver's TLS alert says what is wrong: the client certificate, the protocol or the name.
func TestAlertsOfAReceiver(t *testing.T) {
	t.Parallel()
	for alert, want := range map[tls.AlertError]delivery.FailureClass{
		40:  delivery.TLSProtocol,
		42:  delivery.TLSClientCertificate,
		46:  delivery.TLSClientCertificate,
		48:  delivery.TLSClientCertificate,
		49:  delivery.TLSClientCertificate,
		70:  delivery.TLSProtocol,
		80:  delivery.TLSFailure,
		112: delivery.TLSWrongName,
		116: delivery.TLSClientCertificate,
		120: delivery.TLSProtocol,
	} {
		require.Equal(t, want, classifyAlert(alert), alert.Error())
	}
	require.Equal(t, delivery.TLSFailure, classifyAlert(net.ErrClosed), "what is no alert")
}
