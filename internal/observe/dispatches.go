package observe

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wakecall/wakecall/timer"
)

// dispatches are the collectors of dispatches. Their ids are labels while they send from
// this process: one process has few shards at once.
type dispatches struct {
	items  *prometheus.CounterVec
	asked  *prometheus.GaugeVec
	behind *prometheus.GaugeVec
}

func newDispatches() dispatches {
	shard := []string{labelType, "dispatch", "shard"}
	return dispatches{
		items: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_dispatch_items_total", Help: "Items of dispatches by outcome: done, retry, failed.",
		}, []string{labelType, "outcome"}),
		asked: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "wakecall_dispatch_rate", Help: "Items a second that a shard of a dispatch is to send from this worker.",
		}, shard),
		behind: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "wakecall_dispatch_lag_seconds", Help: "How late a shard of a dispatch sent an item at the most since its last sign of life.",
		}, shard),
	}
}

func (d dispatches) all() []prometheus.Collector {
	return []prometheus.Collector{d.items, d.asked, d.behind}
}

// Dispatched counts items of dispatches by what became of them.
func (t *Telemetry) Dispatched(businessType, outcome string, items int) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	t.dispatches.items.WithLabelValues(t.labels.of(businessType), outcome).Add(float64(items))
}

// Dispatching tells the rate that a shard is to send at, and how late it is. A shard that
// sends no more has neither.
func (t *Telemetry) Dispatching(key timer.Key, shard int, perSecond float64, lag time.Duration) {
	number := strconv.Itoa(shard)
	if perSecond == 0 {
		t.dispatches.asked.DeleteLabelValues(key.BusinessType, key.BusinessID, number)
		t.dispatches.behind.DeleteLabelValues(key.BusinessType, key.BusinessID, number)
		return
	}
	t.dispatches.asked.WithLabelValues(key.BusinessType, key.BusinessID, number).Set(perSecond)
	t.dispatches.behind.WithLabelValues(key.BusinessType, key.BusinessID, number).Set(lag.Seconds())
}
