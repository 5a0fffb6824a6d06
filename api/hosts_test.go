package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// Wherever a URL is given, its host may be an internationalised one.
func TestInternationalisedHosts(t *testing.T) {
	t.Parallel()
	const given, want = "https://bücher.example/x", "https://xn--bcher-kva.example/x"
	told := func() *delivery.Alert { return &delivery.Alert{Destination: delivery.HTTP(given)} }
	terms, errs := timers.TermsBody{OnDelivered: told(), OnFailed: told(), Callback: &delivery.Callback{Destination: delivery.HTTP(given)}}.Terms()
	require.Empty(t, errs)
	require.Equal(t, []string{want, want, want}, []string{terms.OnDelivered.URL, terms.OnFailed.URL, terms.Callback.URL})

	const alert = `{"url":"` + given + `"}`
	body, err := decode.Parse([]byte(`{"callback":` + alert + `,"alert":` + alert + `,"on_delivered":` + alert + `,"on_failed":` + alert + `,"fallback":` + alert + `}`))
	require.NoError(t, err)
	change, err := policies.Read(body, "order", delivery.Reach{}, policy.Policy{})
	require.NoError(t, err)
	p := change.Policy
	for name, url := range map[string]string{
		"callback": p.Callback.URL, "alert": p.Alert.URL, "on_delivered": p.OnDelivered.URL, "on_failed": p.OnFailed.URL, "fallback": p.Fallback.URL,
	} {
		require.Equal(t, want, url, name)
	}
}
