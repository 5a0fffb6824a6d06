package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// The client certificate is for the receiver that the policy names.
func TestWhoIsShownTheClientCertificate(t *testing.T) {
	t.Parallel()
	p := attemptConfig{policy: timer.Policy{TLS: &timer.TLS{CA: "ca", ClientCertificate: "c", ClientKey: "k"}}}
	require.Equal(t, p.policy.TLS, p.tls(timer.Spec{}))
	require.Equal(t, p.policy.TLS, p.tls(timer.Spec{Callback: &timer.Callback{Timeout: 1}}))
	require.Equal(t, &timer.TLS{CA: "ca"}, p.tls(timer.Spec{Callback: &timer.Callback{Destination: timer.HTTP("https://elsewhere/")}}))
	require.Nil(t, attemptConfig{}.tls(timer.Spec{}))
	require.Equal(t, p.policy.TLS, alertMessage(timer.Policy{TLS: p.policy.TLS, Alert: &timer.Alert{}}, timer.Destination{}, "x", nil).TLS)
}
