package embedded

import (
	"net"
	"strconv"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
)

type webUI struct{ server *uiserver.Server }

// startUI serves Temporal's Web UI. Its address is known to be free.
func startUI(o Options) *webUI {
	if o.UIAddr == "" {
		return nil
	}
	host, text, _ := net.SplitHostPort(o.UIAddr)
	port, _ := strconv.Atoi(text)
	server := uiserver.NewServer(server_options.WithConfigProvider(&uiconfig.Config{
		Host: host, Port: port, TemporalGRPCAddress: o.Addr, EnableUI: true, DefaultNamespace: o.Namespace,
		// No page of ours asks anybody outside.
		DisableNewsFetch: true, HideLogs: true,
		CORS: uiconfig.CORS{CookieInsecure: true}, // it is served over plain HTTP on loopback
	}))
	go func() { _ = server.Start() }()
	return &webUI{server: server}
}

func (u *webUI) stop() {
	if u != nil {
		u.server.Stop()
	}
}
