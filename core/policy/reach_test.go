package policy_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

func TestLiteralAddressesAreJudged(t *testing.T) {
	t.Parallel()
	reach := delivery.Reach{Address: func(a netip.Addr) bool { return a == netip.MustParseAddr("192.0.2.1") }}
	for url, want := range map[string]bool{
		"http://192.0.2.1/": true, "https://[::ffff:192.0.2.1]:8080/x": true, "https://example.com/": true, "": true,
		"http://192.0.2.2/": false, "http://[::ffff:c000:202]/": false, "http://[::1]/": false, "http://169.254.169.254/": false,
	} {
		errs := reach.Callback(&delivery.Callback{Destination: delivery.HTTP(url)})
		require.Equal(t, want, len(errs) == 0, url)
		p := policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP(url)}, Alert: &delivery.Alert{Destination: delivery.HTTP(url)}}
		require.Empty(t, policy.CheckReach(reach, p, p), "what stands already is not judged again")
		errs = policy.CheckReach(reach, p, policy.Policy{})
		if !want {
			require.Len(t, errs, 2, url)
			require.Equal(t, "/callback/url", errs[0].Pointer)
			require.Equal(t, "/alert/url", errs[1].Pointer)
		}
	}
	require.Empty(t, delivery.Reach{}.Callback(&delivery.Callback{Destination: delivery.HTTP("http://[::1]/")}))
	require.Empty(t, reach.Callback(nil))
}

// Forms that resolvers read as an address but RFC 3986 does not.
func TestAddressesAreWrittenInTheirUsualForm(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{
		"127.1", "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "127.0.0.1.", "127.0.0.0x1", "1.2.3.4.5", "a.1", "300.1.1.1",
	} {
		require.NotEmpty(t, delivery.Callback{Destination: delivery.HTTP("http://" + odd + "/")}.Check(), odd)
	}
	for _, name := range []string{"0x.example", "1.example", "7f000001.a1", "0xg", "xn--0x"} {
		require.Empty(t, delivery.Callback{Destination: delivery.HTTP("http://" + name + "/")}.Check(), name)
	}
}
