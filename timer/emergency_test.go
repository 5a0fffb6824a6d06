package timer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestEmergencyOrders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order timer.EmergencyOrder
		want  []string
	}{
		"nothing":   {timer.EmergencyOrder{}, []string{"/business_types"}},
		"no types":  {timer.EmergencyOrder{BusinessTypes: []string{}}, []string{"/business_types"}},
		"both":      {timer.EmergencyOrder{Everything: true, BusinessTypes: []string{"a"}}, []string{"/business_types"}},
		"a name":    {timer.EmergencyOrder{BusinessTypes: []string{"a", "B"}}, []string{"/business_types/1"}},
		"the star":  {timer.EmergencyOrder{BusinessTypes: []string{"*"}}, []string{"/business_types/0"}},
		"many":      {timer.EmergencyOrder{BusinessTypes: make([]string, timer.MaxEmergencyTypes+1)}, []string{"/business_types"}},
		"long note": {timer.EmergencyOrder{Everything: true, Note: strings.Repeat("x", timer.MaxNote+1)}, []string{"/note"}},
		"good":      {timer.EmergencyOrder{Everything: true, Note: strings.Repeat("x", timer.MaxNote)}, nil},
	} {
		require.Equal(t, c.want, pointers(c.order.Check().Err()), name)
	}
	order := timer.EmergencyOrder{BusinessTypes: []string{"b", "a", "b"}, Author: "ops", Note: "n"}
	require.Equal(t, []timer.Emergency{
		{BusinessType: "a", Author: "ops", Note: "n", Since: 7}, {BusinessType: "b", Author: "ops", Note: "n", Since: 7},
	}, order.Emergencies(7))
	order.Everything = true
	require.Equal(t, []timer.Emergency{{Everything: true, Author: "ops", Note: "n", Since: 7}}, order.Emergencies(7))
}
