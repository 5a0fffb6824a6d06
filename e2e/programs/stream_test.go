package programs

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// newGateway starts a process of the role api beside a standalone Wakecall.
func newGateway(t *testing.T, env *process.Standalone) (gateway *process.Process, url string) {
	addr := loopback.Addr()
	url = "http://" + addr
	return process.Start(t, process.Command{
		Path: process.WakecallBinary(t), Args: []string{"api"}, Ready: url + "/readyz",
		Env: map[string]string{
			"WAKECALL_HTTP_ADDR": addr, "TEMPORAL_ADDRESS": env.Addr("WAKECALL_TEMPORAL_ADDR"), "WAKECALL_LOG_LEVEL": "error",
			"WAKECALL_SECRET_KEY": env.Env["WAKECALL_SECRET_KEY"],
		},
	}), url
}

// receives connects a receiver until the test ends, and returns its rings. It takes the
// rings, or does not answer.
func receives(t *testing.T, url, kind string, takes bool) <-chan client.Ring {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	rings, connected, ended := make(chan client.Ring, 100), make(chan struct{}, 100), make(chan struct{})
	wakecall := client.New(client.Options{URL: url, HTTP: &http.Client{}})
	go func() {
		defer close(ended)
		_ = wakecall.Streams.Listen(ctx, kind, client.Receiver{
			Connected: func() { connected <- struct{}{} },
			Ring: func(ctx context.Context, ring client.Ring) error {
				rings <- ring
				if !takes {
					<-ctx.Done()
				}
				return nil
			},
		})
	}()
	t.Cleanup(func() { stop(); <-ended })
	<-connected
	return rings
}

// ringing is how many timers ring in each test.
const ringing = 5

// ids takes their rings, and returns their message ids by the timer.
func ids(t *testing.T, rings <-chan client.Ring) (found map[string]string) {
	t.Helper()
	found = map[string]string{}
	for range ringing {
		select {
		case ring := <-rings:
			require.Equal(t, "1", ring.Header.Get("Wakecall-Attempt"), "what broke off was no attempt")
			found[ring.Header.Get("Wakecall-Business-Id")] = ring.Header.Get("Webhook-Id")
		case <-time.After(process.Patience):
			require.Fail(t, "a ring is missing", "%v came", found)
		}
	}
	require.Len(t, found, ringing)
	return found
}

// A killed gateway loses nothing: its rings under way go to a receiver at another gateway,
// under the same id. A stopped one hands them on at once.
func TestAGatewayWithReceiversEnds(t *testing.T) {
	t.Parallel()
	env, kind := process.NewStandalone(t), sample.Type(t)
	env.Env["WAKECALL_SECRET_KEY"] = seal.NewKey()
	env.Start()
	for name, end := range map[string]func(*process.Process){
		"killed": func(g *process.Process) { g.Kill() }, "stopped": func(g *process.Process) { g.Stop() },
	} {
		kind := kind + "-" + name
		env.Policy(kind, contract.JSON{"callback": contract.JSON{"stream": true, "timeout": "60s"}})
		victim, url := newGateway(t, env)
		held := receives(t, url, kind, false)
		for i := range ringing {
			env.Add(contract.JSON{"business_type": kind, "business_id": fmt.Sprint(name, i), "delay": "0s"})
		}
		lost := ids(t, held)
		survivor := receives(t, env.URL, kind, true)
		began := time.Now()
		end(victim)
		require.Equal(t, lost, ids(t, survivor))
		if name == "stopped" {
			require.Less(t, time.Since(began), tuning.StreamSilence)
		}
		for id := range lost {
			env.Await(kind+"/"+id, "delivered")
			require.Equal(t, 1, env.Get(kind+"/"+id).Attempts)
		}
	}
}
