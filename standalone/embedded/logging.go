package embedded

import (
	"path/filepath"
	"time"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The sampling of messages: the first few of each in a window are written, and then one of many.
const (
	logWindow     = time.Minute
	logFirst      = 10
	logThereafter = 10_000
)

// newLogger writes Temporal's warnings to temporal.log, each message a few times a minute and without stack
// traces. An overloaded Temporal logs each failed call with its stack: without a bound that was 444 MB in half
// a minute, with a herd of 10,000 on two cores.
func newLogger(o Options, fatal zapcore.CheckWriteHook) log.Logger {
	sampled := func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, logWindow, logFirst, logThereafter)
	}
	built := log.BuildZapLogger(log.Config{Level: "warn", OutputFile: filepath.Join(o.DataDir, "temporal.log")})
	return log.NewZapLogger(built.WithOptions(zap.WithFatalHook(fatal), zap.AddStacktrace(zap.FatalLevel), zap.WrapCore(sampled)))
}
