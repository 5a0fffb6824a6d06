// Package ringpop stands in for Temporal's membership protocol. The hosts of one process are
// known.
package ringpop

import (
	"errors"

	"github.com/temporalio/ringpop-go/events"
	"github.com/temporalio/ringpop-go/swim"
	"github.com/temporalio/tchannel-go"
)

const absent = "this server is built without a membership protocol"

// ErrEphemeralAddress is an error that Temporal returns.
var ErrEphemeralAddress = errors.New(absent)

// The types that Temporal names.
type (
	Ringpop struct{}
	Option  func(*Ringpop) error
)

func New(string, ...Option) (*Ringpop, error)                       { panic(absent) }
func AddressResolverFunc(func() (string, error)) Option             { panic(absent) }
func Channel(*tchannel.Channel) Option                              { panic(absent) }
func (*Ringpop) AddListener(events.EventListener) bool              { panic(absent) }
func (*Ringpop) Bootstrap(*swim.BootstrapOptions) ([]string, error) { panic(absent) }
func (*Ringpop) Destroy()                                           { panic(absent) }
func (*Ringpop) Labels() (*swim.NodeLabels, error)                  { panic(absent) }
func (*Ringpop) RemoveListener(events.EventListener) bool           { panic(absent) }
func (*Ringpop) SelfEvict() error                                   { panic(absent) }

func (*Ringpop) GetReachableMembers(...swim.MemberPredicate) ([]string, error) { panic(absent) }

func (*Ringpop) GetReachableMemberObjects(...swim.MemberPredicate) ([]swim.Member, error) {
	panic(absent)
}
