package delivery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
)

// The client certificate is for the policy's receiver.
func TestWhoIsShownTheClientCertificate(t *testing.T) {
	t.Parallel()
	own := &policy.TLS{CA: "ca", ClientCertificate: "c", ClientKey: "k"}
	shown := func(tls *policy.TLS, callback *delivery.Callback) *policy.TLS {
		a := attempt{settings: settings{policy: policy.Policy{TLS: tls}}, delivery: timer.Delivery{Spec: timer.Spec{Callback: callback}}}
		return a.message().TLS
	}
	require.Equal(t, own, shown(own, nil))
	require.Equal(t, own, shown(own, &delivery.Callback{Timeout: 1}))
	require.Equal(t, &policy.TLS{CA: "ca"}, shown(own, &delivery.Callback{Destination: delivery.HTTP("https://elsewhere/")}))
	require.Nil(t, shown(nil, nil))
}
