package roles

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
)

// A worker and a Prometheus on one machine have the same default address.
func TestAnAddressThatIsTakenNamesItsSetting(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it accepts nothing
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	telemetry, err := observe.NewTelemetry("test")
	require.NoError(t, err)
	defer func() { require.NoError(t, telemetry.Shutdown(t.Context())) }()
	taken := other.Addr().String()
	a := &App{Config: config.Config{MetricsAddr: taken}, Telemetry: telemetry}
	err = a.ServeMetrics(t.Context(), func(net.Addr) { t.Error("it has started") })
	require.ErrorContains(t, err, "WAKECALL_METRICS_ADDR: listen tcp "+taken)
}

// No start is announced while one of the two addresses is taken.
func TestAStartIsAnnouncedWhenBothAddressesAreOpen(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it accepts nothing
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	const free = "127.0.0.1:0"
	taken := other.Addr().String()
	for setting, of := range map[string]config.Config{
		"WAKECALL_METRICS_ADDR": {HTTPAddr: free, MetricsAddr: taken}, "WAKECALL_HTTP_ADDR": {HTTPAddr: taken, MetricsAddr: free},
	} {
		a := &App{Config: of} // nothing else is touched
		err = a.ServeAPI(t.Context(), func(net.Addr) { t.Error("it has started") })
		require.ErrorContains(t, err, setting+": listen tcp "+taken)
	}
}
