package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	serverconfig "go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"

	"github.com/wakecall/wakecall/deploy"
)

// Options configure the server.
type Options struct {
	// Addr is the address of Temporal's frontend, and UIAddr that of the Web UI; an empty UIAddr
	// means no Web UI.
	Addr, UIAddr string
	// UINames are the names by which the Web UI may be called beyond loopback.
	UINames []string
	// DataDir holds everything that survives a restart.
	DataDir   string
	Namespace string
	// Retention is how long a finished timer is retained: the deduplication window.
	Retention time.Duration
	// Shards is fixed when the directory is made.
	Shards int
	// Synchronous is SQLite's pragma: FULL survives a power cut.
	Synchronous string
	// SearchAttributes are registered in the namespace at its creation.
	SearchAttributes map[string]enumspb.IndexedValueType
	// Tuning is Temporal's dynamic configuration, in YAML; if empty, Wakecall's own.
	Tuning []byte
}

// Server is a running Temporal.
type Server struct {
	temporal temporal.Server
	ui       *webUI
	dir      *directory
}

// Start opens the directory and starts Temporal and its Web UI. It locks the directory until
// Stop.
func Start(o Options) (*Server, error) { return start(o, freePort) }

func start(o Options, ports portSource) (_ *Server, err error) {
	if err := errors.Join(free("WAKECALL_TEMPORAL_ADDR", o.Addr), free("WAKECALL_UI_ADDR", o.UIAddr)); err != nil {
		return nil, err
	}
	dir, err := openDirectory(o)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	defer func() {
		if err != nil {
			s.dir.close()
		}
	}()
	if s.temporal, err = bind(o, ports); err != nil {
		return nil, fmt.Errorf("starting Temporal: %w", err)
	}
	if err = s.temporal.Start(); err != nil {
		return nil, fmt.Errorf("starting Temporal: %w", err)
	}
	if err = keepRetention(o); err != nil {
		_ = s.temporal.Stop()
		return nil, err
	}
	if s.ui, err = startUI(o); err != nil {
		_ = s.temporal.Stop()
		return nil, err
	}
	return s, nil
}

func newTemporal(o Options, ports portSource) (temporal.Server, error) {
	config, err := serverConfig(o, ports)
	if err != nil {
		return nil, err
	}
	if o.Tuning == nil {
		o.Tuning = deploy.DynamicConfig
	}
	tuning := dynamicconfig.LoadYamlFile(o.Tuning)
	if err := tuning.Err(); err != nil {
		return nil, fmt.Errorf("dynamicconfig.yaml: %w", err)
	}
	values := dynamicconfig.StaticClient{}
	for key, value := range tuning.Map {
		values[key] = value
	}
	var word lastWord
	logger := newLogger(o, &word)
	return word.build(
		temporal.WithConfig(config),
		temporal.ForServices(temporal.DefaultServices),
		// Hosts are known: no membership protocol, no "not enough hosts" after a crash
		// (temporalio/cli#632).
		temporal.WithStaticHosts(staticHosts(config)),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*serverconfig.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
		temporal.WithDynamicConfigClient(values),
	)
}

func staticHosts(config *serverconfig.Config) map[primitives.ServiceName]static.Hosts {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range config.Services {
		address := net.JoinHostPort(service.RPC.BindOnIP, fmt.Sprint(service.RPC.GRPCPort))
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(address)
	}
	return hosts
}

// Stop stops the Web UI and Temporal, and folds SQLite's logs back into their databases.
// Temporal itself may take minutes. Work left when ctx ends is for the next start, as after a
// crash.
func (s *Server) Stop(ctx context.Context) error {
	s.ui.stop()
	stopped := make(chan error, 1)
	go func() {
		err := s.temporal.Stop()
		stopped <- errors.Join(err, s.dir.fold())
	}()
	select {
	case err := <-stopped:
		s.dir.close()
		return err
	case <-ctx.Done():
		return errors.Join(errors.New("temporal did not stop in time; nothing is lost"), s.dir.fold())
	}
}

// free returns why a server cannot listen where a setting says.
func free(setting, addr string) error {
	if addr == "" {
		return nil
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	return listener.Close()
}
