package dispatches

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/waits"
)

// Dispatches calls the receiver of a business type for each of many items, at one rate.
type Dispatches struct {
	*Reader
	*Orders
	*Uploads
	*Controls
	*Retrier
	*Pages
	*Executors
}

// New returns the dispatches of a namespace.
func New(k *kernel.Kernel, policies *policies.Policies, waits *waits.Waits, reach delivery.Reach) *Dispatches {
	pages := &Pages{kernel: k}
	reader := &Reader{kernel: k, waits: waits, pages: pages, memos: newMemoCache(), capacity: &capacity{}}
	controls := &Controls{kernel: k, reader: reader}
	uploads := &Uploads{reader: reader, pages: pages, controls: controls}
	orders := &Orders{kernel: k, policies: policies, reach: reach, reader: reader, uploads: uploads}
	return &Dispatches{
		Reader: reader, Orders: orders, Uploads: uploads, Controls: controls, Pages: pages, Executors: &Executors{kernel: k},
		Retrier: &Retrier{kernel: k, reader: reader, pages: pages, orders: orders},
	}
}
