package roles

import (
	"log/slog"

	"github.com/wakecall/wakecall/internal/observe"
)

// deaths tells the log and the metrics of workers that died.
type deaths struct {
	logger    *slog.Logger
	telemetry *observe.Telemetry
}

func (d deaths) Died(worker string) {
	d.telemetry.WorkerDied()
	d.logger.Error("a worker gives no sign of life; what it held is taken over", "worker", worker)
}

func (d deaths) Revived(worker string) {
	d.logger.Warn("a worker that was taken for dead gives signs of life again", "worker", worker)
}

func (d deaths) Freed(timers int) {
	d.telemetry.Freed(timers)
	d.logger.Info("timers were taken over from dead workers, or lost on their way", "timers", timers)
}

func (d deaths) Failed(err error) {
	d.logger.Warn("dead workers could not be watched for", "error", err)
}
