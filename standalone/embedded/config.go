package embedded

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/cluster"
	serverconfig "go.temporal.io/server/common/config"
	"go.temporal.io/server/common/primitives"
)

const (
	clusterName     = "active"
	mainStore       = "main"
	visibilityStore = "visibility"
)

// serverConfig returns the configuration of a server in one process, with the ports of its inner
// services from ports.
func serverConfig(o Options, ports portSource) (*serverconfig.Config, error) {
	frontend, err := netip.ParseAddrPort(o.Addr)
	if err != nil {
		return nil, fmt.Errorf("the address of Temporal must be an IP and a port: %w", err)
	}
	config := &serverconfig.Config{
		Persistence: serverconfig.Persistence{
			DefaultStore: mainStore, VisibilityStore: visibilityStore, NumHistoryShards: int32(o.Shards),
			DataStores: map[string]serverconfig.DataStore{
				mainStore:       {SQL: sqlite(o, mainStore)},
				visibilityStore: {SQL: sqlite(o, visibilityStore)},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: o.Addr},
			},
		},
		DCRedirectionPolicy: serverconfig.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        serverconfig.PublicClient{HostPort: o.Addr},
		Services: map[string]serverconfig.Service{
			string(primitives.FrontendService): service(frontend.Addr().String(), int(frontend.Port())),
			// The worker service gets no calls: any port will do.
			string(primitives.WorkerService): service(loopback, 0),
		},
	}
	config.Global.Membership.MaxJoinDuration = 30 * time.Second
	config.Global.Membership.BroadcastAddress = loopback
	config.Archival.History.State, config.Archival.Visibility.State = "disabled", "disabled"
	config.NamespaceDefaults.Archival.History.State = "disabled"
	config.NamespaceDefaults.Archival.Visibility.State = "disabled"
	for _, name := range []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService} {
		port, err := ports()
		if err != nil {
			return nil, err
		}
		config.Services[string(name)] = service(loopback, port)
	}
	return config, nil
}

const loopback = "127.0.0.1"

func service(ip string, port int) serverconfig.Service {
	return serverconfig.Service{RPC: serverconfig.RPC{GRPCPort: port, BindOnIP: ip}}
}

// sqlite returns the configuration of one file. Its keys are pragmas without an underscore. With
// one they would be ignored silently, and every commit would rewrite a journal.
func sqlite(o Options, name string) *serverconfig.SQL {
	return &serverconfig.SQL{
		PluginName:   pluginName,
		DatabaseName: inURI(filepath.Join(o.DataDir, name+".db")),
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"journal_mode": "wal",
			"synchronous":  o.Synchronous,
			"busy_timeout": "10000",
		},
	}
}

// inURI escapes a path for a URI of SQLite. SQLite would end it at # or ?, and take % for an
// escape, and silently use another file.
func inURI(path string) string { return (&url.URL{Path: path}).EscapedPath() }
