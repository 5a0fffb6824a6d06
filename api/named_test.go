package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A timer that is found by the id of a run or of a delivery is shown to who may see its type only.
// The other parameters of a list are refused beside one.
func TestTimersAreFoundByOtherIDs(t *testing.T) {
	t.Parallel()
	const run, ring = "run_id=0199b2c4-1d2e-7f30-8a41-5b6c7d8e9f01", "webhook_id=msg_2t5rq4nzk3xw7yh6jd7mbcvp5e"
	_, ask := guarded(authOf(t, "shop", ":viewer:order"))
	for _, query := range []string{run, ring} {
		answer := ask(http.MethodGet, "/v1/timers?"+query, "")
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		require.Contains(t, answer.Body.String(), `"business_type":"order"`)
		require.NotContains(t, answer.Body.String(), "invoice")
	}
	for query, pointer := range map[string]string{
		"run_id=":                    "run_id",
		"run_id=order/1":             "run_id",
		"webhook_id=msg_A":           "webhook_id",
		run + "&" + ring:             "webhook_id",
		run + "&business_type=order": "business_type",
		ring + "&sort=due":           "sort",
	} {
		answer := ask(http.MethodGet, "/v1/timers?"+query, "")
		require.Equal(t, http.StatusUnprocessableEntity, answer.Code, query)
		require.Contains(t, answer.Body.String(), `"pointer":"`+pointer+`"`, query)
	}
}
