package process

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWatchedMetrics(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string][]string{"task_latency": {"task_type", "state"}}, watchedBy([]string{
		`topk(8, histogram_quantile(0.99, sum by (le, task_type) (rate(task_latency_bucket{job="a",state=~"b|c"}[1m]))))`, `absent(up{job="a"} == 1)`,
	}))
	shown := "# TYPE task_latency histogram\ntask_latency_bucket{operation=\"a\",task_type=\"b\",le=\"1\"} 0\nother_bucket{task_category=\"x\"} 1\n"
	for label, has := range map[string]bool{"task_type": true, "operation": true, "task_category": false, "type": false} {
		require.Equal(t, has, HasLabel(shown, "task_latency", label), label)
	}
}
