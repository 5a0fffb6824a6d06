// Package loopback hands out free addresses on the loopback network.
package loopback

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

// Linux takes the ports of outgoing connections, and of listeners without a fixed port, from
// above these by default.
const lowestPort, highestPort = 20_000, 32_000

// Host is an IP of the loopback network for this process alone, if the system has more than
// one. Other processes, and outgoing connections, which leave from 127.0.0.1, take none of its
// ports. An address handed out stays free until it is used, and while its process is down.
var Host = sync.OnceValue(func() string {
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	if Free(net.JoinHostPort(host, "0")) {
		return host
	}
	return "127.0.0.1"
})

// Addr is a free address on Host. Each call in this process returns another one.
func Addr() string {
	addrs.Lock()
	defer addrs.Unlock()
	for {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		addr := fmt.Sprintf("%s:%d", Host(), port)
		if !handed[port] && Free(addr) {
			handed[port] = true
			return addr
		}
	}
}

// Free reports whether an address has no listener.
func Free(addr string) bool {
	listener, err := net.Listen("tcp", addr)
	return err == nil && listener.Close() == nil
}

// Listening reports whether an address has a listener. It connects and closes: an attempt to
// listen would keep a starting process from the address.
func Listening(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	return err == nil && conn.Close() == nil
}

// Port is the port of an address.
func Port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}
