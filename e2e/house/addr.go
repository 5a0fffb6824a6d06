package house

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

var (
	addrs  sync.Mutex
	handed = map[int]bool{}
)

// The kernel takes ports of outgoing connections, and of listeners that do not
// care, from above these: an address handed out stays free until it is used,
// and while its process is down.
const lowestPort, highestPort = 20_000, 32_000

// Addr is an address on loopback that nobody listens on, and that nobody else
// in this process is given.
func Addr() string {
	addrs.Lock()
	defer addrs.Unlock()
	for {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		if !handed[port] && Free(addr) {
			handed[port] = true
			return addr
		}
	}
}

// Free reports whether nobody listens on an address.
func Free(addr string) bool {
	listener, err := net.Listen("tcp", addr)
	return err == nil && listener.Close() == nil
}

// Port is the port of an address.
func Port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}
