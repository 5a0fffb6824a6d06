package embedded

import (
	"errors"
	"net"
	"syscall"

	"go.temporal.io/server/temporal"
	"go.uber.org/zap/zapcore"
)

// portSource returns free ports on loopback for Temporal's inner services. Temporal is
// configured with numbers and binds them itself, so another process may take one first.
type portSource func() (int, error)

func freePort() (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// maxBinds bounds the tries with other ports.
const maxBinds = 5

// bind makes a server with bound ports. Temporal binds the frontend's port after those of the
// inner services. The worker's takes any port. So a try that fails for an inner port has not
// taken the frontend's.
func bind(o Options, ports portSource) (server temporal.Server, err error) {
	for range maxBinds {
		server, err = newTemporal(o, ports)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return server, err
		}
		if err := free("WAKECALL_TEMPORAL_ADDR", o.Addr); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// lastWord is the hook of Temporal's logger after a fatal entry. Temporal ends the process if a
// port is taken.
type lastWord struct{ inUse error }

// build makes a server. The collector frees the parts of a failed try.
func (w *lastWord) build(options ...temporal.ServerOption) (server temporal.Server, err error) {
	defer func() {
		if w.inUse != nil {
			_ = recover() // from OnWrite's panic
			err = w.inUse
		}
	}()
	return temporal.NewServer(options...)
}

// OnWrite panics if a port is taken, and otherwise ends the process.
func (w *lastWord) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && errors.Is(err, syscall.EADDRINUSE) {
			w.inUse = err
			zapcore.WriteThenPanic.OnWrite(entry, fields)
		}
	}
	zapcore.WriteThenFatal.OnWrite(entry, fields)
}
