package policies

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// A policy that is taken can be checked, and shows no header value.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"callback":{"url":"https://h/","headers":{"X":"secret"},"timeout":"1s"},"retry":{"steps":[]},"signing_secrets":["whsec_AA"]}`))
	f.Add([]byte(`{"callback":{"headers":{"a/b~c":"***"}},"version":1e9}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := decode.Parse(body)
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		change, err := Read(members, "order", delivery.Reach{}, policy.Policy{})
		if err != nil {
			apitest.RequireRefusal(t, err)
			return
		}
		for _, value := range mask(change.Policy).Callback.Headers {
			require.Equal(t, delivery.Hidden, value)
		}
	})
}
