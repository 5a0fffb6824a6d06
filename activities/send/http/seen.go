package httpsend

import (
	"crypto/tls"

	"github.com/wakecall/wakecall/core/delivery"
	corewire "github.com/wakecall/wakecall/core/wire"
)

// seenOf is what a receiver showed of itself; nil without TLS.
func seenOf(state *tls.ConnectionState) *delivery.TLSSeen {
	if state == nil || len(state.PeerCertificates) == 0 {
		return nil
	}
	shown := state.PeerCertificates[0]
	return &delivery.TLSSeen{Version: tls.VersionName(state.Version), Subject: shown.Subject.String(), Until: corewire.At(shown.NotAfter)}
}
