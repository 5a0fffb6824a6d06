package embedded

import (
	"path/filepath"
	"time"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Of each message the first few in a window are written, and then one of many.
const (
	logWindow     = time.Minute
	logFirst      = 10
	logThereafter = 10_000
)

// newLogger writes what Temporal warns of to temporal.log, each message a few times a minute and
// without stack traces. A Temporal that has too much to do tells of each call that failed, and of
// where. Without a bound that was 444 MB in half a minute, with a herd of 10,000 on two cores.
func newLogger(o Options, fatal zapcore.CheckWriteHook) log.Logger {
	sampled := func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, logWindow, logFirst, logThereafter)
	}
	built := log.BuildZapLogger(log.Config{Level: "warn", OutputFile: filepath.Join(o.DataDir, "temporal.log")})
	return log.NewZapLogger(built.WithOptions(zap.WithFatalHook(fatal), zap.AddStacktrace(zap.FatalLevel), zap.WrapCore(sampled)))
}
