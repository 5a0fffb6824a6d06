package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

func TestEmergencyOrders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order policy.EmergencyOrder
		want  []string
	}{
		"nothing":   {policy.EmergencyOrder{}, []string{"/business_types"}},
		"no types":  {policy.EmergencyOrder{BusinessTypes: []string{}}, []string{"/business_types"}},
		"both":      {policy.EmergencyOrder{Everything: true, BusinessTypes: []string{"a"}}, []string{"/business_types"}},
		"a name":    {policy.EmergencyOrder{BusinessTypes: []string{"a", "B"}}, []string{"/business_types/1"}},
		"the star":  {policy.EmergencyOrder{BusinessTypes: []string{"*"}}, []string{"/business_types/0"}},
		"many":      {policy.EmergencyOrder{BusinessTypes: make([]string, policy.MaxEmergencyTypes+1)}, []string{"/business_types"}},
		"long note": {policy.EmergencyOrder{Everything: true, Note: strings.Repeat("x", wire.MaxNote+1)}, []string{"/note"}},
		"good":      {policy.EmergencyOrder{Everything: true, Note: strings.Repeat("x", wire.MaxNote)}, nil},
	} {
		require.Equal(t, c.want, pointers(c.order.Check().Err()), name)
	}
	order := policy.EmergencyOrder{BusinessTypes: []string{"b", "a", "b"}, Author: "ops", Note: "n"}
	require.Equal(t, []policy.Emergency{
		{BusinessType: "a", Author: "ops", Note: "n", Since: 7}, {BusinessType: "b", Author: "ops", Note: "n", Since: 7},
	}, order.Emergencies(7))
	order.Everything = true
	require.Equal(t, []policy.Emergency{{Everything: true, Author: "ops", Note: "n", Since: 7}}, order.Emergencies(7))
}
