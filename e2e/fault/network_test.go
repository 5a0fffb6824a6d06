package fault

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// network is a proxy on each link between two services.
type network struct {
	t      *testing.T
	server *toxiproxy.ApiServer

	mu    sync.Mutex
	links map[string]*toxiproxy.Proxy
}

func newNetwork(t *testing.T) *network {
	return &network{
		t: t, links: map[string]*toxiproxy.Proxy{},
		server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop()),
	}
}

// via leads a link through its own proxy.
func (n *network) via(from, to, addr string) string {
	proxy := toxiproxy.NewProxy(n.server, from+"-"+to, loopback.Addr(), addr)
	require.NoError(n.t, proxy.Start())
	n.t.Cleanup(proxy.Stop)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[from+" and "+to] = proxy
	return proxy.Listen
}

// ofWorker is [network.via] for the link between the first worker and Temporal only.
func (n *network) ofWorker(from, to, addr string) string {
	if from == "worker" && to == "temporal" {
		return n.via(from, to, addr)
	}
	return process.Direct(from, to, addr)
}

// cut breaks a link in one way. It returns the function that joins the link again.
type cut func(*testing.T, *toxiproxy.Proxy) (join func())

var cuts = map[string]cut{
	// Connections are reset, and new ones are refused.
	"reset": func(t *testing.T, proxy *toxiproxy.Proxy) func() {
		proxy.Stop()
		return func() { require.NoError(t, proxy.Start()) }
	},
	// Nothing arrives, and there is no error.
	"silent": func(t *testing.T, proxy *toxiproxy.Proxy) func() {
		for _, stream := range []string{"upstream", "downstream"} {
			toxic := fmt.Sprintf(`{"type": "timeout", "stream": %q, "attributes": {"timeout": 0}}`, stream)
			_, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
			require.NoError(t, err)
		}
		return func() { proxy.Toxics.ResetToxics(t.Context()) }
	},
}

func TestNetworkCut(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		links := []string{"client and api", "worker and temporal", "temporal and postgres", "worker and receiver"}
		if of == roles {
			links = append(links, "api and temporal")
		}
		for _, link := range links {
			for name, cut := range cuts {
				t.Run(link+", "+name, func(t *testing.T) {
					t.Parallel()
					n := newNetwork(t)
					p := newProduction(t, of, n.via)
					p.run(trial{fault: "network between " + link + " cut for 10 s, " + name, plan: busy(750), strike: func(*load.Load) {
						for range 2 {
							p.awaitHeld()
							// An unreachable receiver is like a dead caller: its answers
							// never arrive.
							f := p.breaks(link == "worker and receiver")
							join := cut(t, n.links[link])
							p.pause(10 * time.Second)
							p.heals(f)
							join()
							p.pause(5 * time.Second)
						}
					}})
				})
			}
		}
	})
}
