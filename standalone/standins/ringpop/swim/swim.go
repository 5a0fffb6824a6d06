// Package swim stands in for the gossip of a membership protocol.
package swim

import "time"

const absent = "this server is built without a membership protocol"

// The types that Temporal names.
type (
	BootstrapOptions struct {
		DiscoverProvider            DiscoverProvider
		ParallelismFactor, JoinSize int
		MaxJoinDuration             time.Duration
	}
	DiscoverProvider interface{ Hosts() ([]string, error) }
	Member           struct {
		Address string
		Labels  map[string]string
	}
	MemberPredicate func(Member) bool
	NodeLabels      struct{}
)

func MemberWithLabelAndValue(string, string) MemberPredicate { panic(absent) }
func (Member) Label(string) (string, bool)                   { panic(absent) }
func (*NodeLabels) Remove(string) (bool, error)              { panic(absent) }
func (*NodeLabels) Set(string, string) error                 { panic(absent) }
