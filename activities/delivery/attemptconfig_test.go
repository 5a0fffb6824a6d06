package delivery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
)

// The client certificate is for the receiver that the policy names.
func TestWhoIsShownTheClientCertificate(t *testing.T) {
	t.Parallel()
	p := attemptConfig{policy: policy.Policy{TLS: &policy.TLS{CA: "ca", ClientCertificate: "c", ClientKey: "k"}}}
	require.Equal(t, p.policy.TLS, p.tls(timer.Spec{}))
	require.Equal(t, p.policy.TLS, p.tls(timer.Spec{Callback: &delivery.Callback{Timeout: 1}}))
	require.Equal(t, &policy.TLS{CA: "ca"}, p.tls(timer.Spec{Callback: &delivery.Callback{Destination: delivery.HTTP("https://elsewhere/")}}))
	require.Nil(t, attemptConfig{}.tls(timer.Spec{}))
}
