//go:build !race

package temporal

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/engine/namespace"
	"github.com/wakecall/wakecall/standalone/embedded"
)

// Start starts a Temporal with few shards.
func Start(s Settings) (stop func(), err error) {
	server, err := embedded.Start(embedded.Options{
		Addr: s.Addr, DataDir: s.Dir, Namespace: client.DefaultNamespace, Retention: s.Retention, Shards: 4,
		Synchronous: "off", SearchAttributes: namespace.SearchAttributes(), Tuning: s.Tuning,
	})
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = server.Stop(ctx)
	}, nil
}
