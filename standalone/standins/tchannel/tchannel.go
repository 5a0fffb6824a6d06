// Package tchannel stands in for the wire of Temporal's membership protocol.
package tchannel

import (
	"context"
	"net"
)

const absent = "this server is built without a membership protocol"

// The types that Temporal names.
type (
	Channel        struct{}
	ChannelOptions struct {
		Dialer func(context.Context, string, string) (net.Conn, error)
	}
	LocalPeerInfo struct{ HostPort string }
)

func NewChannel(string, *ChannelOptions) (*Channel, error) { panic(absent) }
func (*Channel) Close()                                    { panic(absent) }
func (*Channel) ListenAndServe(string) error               { panic(absent) }
func (*Channel) PeerInfo() LocalPeerInfo                   { panic(absent) }
func (*Channel) Serve(net.Listener) error                  { panic(absent) }
func (LocalPeerInfo) IsEphemeralHostPort() bool            { panic(absent) }
