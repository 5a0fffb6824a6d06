package policies

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// A value that cannot be read is named alone: what needs it is not refused for its absence.
func TestWhatCannotBeReadIsNotMissed(t *testing.T) {
	t.Parallel()
	const beside = `, "fallback": {"url": "https://backup.example/"}`
	for body, want := range map[string][]string{
		`{"callback": 5` + beside + `}`:                                                                     {"/callback"},
		`{"callback": {"url": 5, "headers": {"X-A": "b"}}` + beside + `}`:                                   {"/callback/url"},
		`{"callback": {"stream": "yes"}` + beside + `}`:                                                     {"/callback/stream"},
		`{"callback": {"broker": 5, "exchange": "e"}, "declare": {"exchange_type": "topic"}` + beside + `}`: {"/callback/broker"},
		`{"limits": {"adds_per_second": "5", "adds_burst": 6}}`:                                             {"/limits/adds_per_second"},
		// The control: what is missing is missed, beside another value that cannot be read.
		`{"priority": "1"` + beside + `}`:                          {"/priority", "/fallback"},
		`{"priority": "1", "limits": {"adds_burst": 6}}`:           {"/priority", "/limits/adds_burst"},
		`{"callback": {"url": 5, "broker": "main"}` + beside + `}`: {"/callback/url"},
		`{"callback": {"timeout": 5, "headers": {"X-A": "b"}}}`:    {"/callback/timeout", "/callback/headers"},
	} {
		members, err := decode.Parse([]byte(body))
		require.NoError(t, err)
		_, err = Read(members, "order", delivery.Reach{Brokers: []string{"main"}}, policy.Policy{})
		require.Equal(t, want, apitest.Pointers(t, err), body)
	}
}
