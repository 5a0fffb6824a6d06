package delivery

import "github.com/wakecall/wakecall/core/wire"

// RingAnswer is a receiver's answer to a ring from a long poll. It goes to the gateway that sent
// the ring.
type RingAnswer struct {
	// Gateway, Connection and Number name the ring.
	Gateway      string `json:"gateway"`
	BusinessType string `json:"business_type"`
	Connection   string `json:"connection"`
	Number       uint64 `json:"number"`

	Delivered bool          `json:"delivered,omitzero"`
	Reason    string        `json:"reason,omitzero"`
	Delay     wire.Duration `json:"delay,omitzero"`
	NoRetry   bool          `json:"no_retry,omitzero"`
	Stop      bool          `json:"stop,omitzero"`
}

// Answer returns the outcome of the attempt.
func (r RingAnswer) Answer() Answer {
	if r.Delivered {
		return Answer{Delivered: true, Stop: r.Stop}
	}
	return Answer{Class: Refused, Detail: r.Reason, RetryAfter: r.Delay.D(), NoRetry: r.NoRetry, Stop: r.Stop}
}
