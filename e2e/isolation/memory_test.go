package isolation

import (
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"
)

// memoryLimit is how much the process may grow with any receiver.
const memoryLimit = 128 << 20

// memory watches the heap in use.
type memory struct {
	before  int64
	highest int64
	stop    chan struct{}
	stopped chan struct{}
}

func watchMemory() *memory {
	m := &memory{before: inUse(), stop: make(chan struct{}), stopped: make(chan struct{})}
	go m.watch()
	return m
}

func (m *memory) watch() {
	defer close(m.stopped)
	tick := time.NewTicker(500 * time.Millisecond) // a collection is expensive under the race detector
	defer tick.Stop()
	for {
		m.highest = max(m.highest, inUse())
		select {
		case <-tick.C:
		case <-m.stop:
			return
		}
	}
}

// growth ends the watch, and returns the heap's largest growth.
func (m *memory) growth() int64 {
	close(m.stop)
	<-m.stopped
	return max(m.highest, inUse()) - m.before
}

// inUse is what the last collection found alive. What is allocated since then may be garbage, and
// is much where this process waits for a processor.
func inUse() int64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}

// attemptsUnderWay counts the callbacks that hold a slot.
func attemptsUnderWay() int {
	stacks := make([]byte, 8<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "delivery.(*try).call(")
}

// readAll handles an answer as a careless client does: it unpacks it, and returns it to be kept.
func readAll(url string, limit int64) ([]byte, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 3 * time.Minute}
	response, err := client.Post(url, "", strings.NewReader("x")) //nolint:noctx // the client has a timeout
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(io.LimitReader(response.Body, limit))
}
