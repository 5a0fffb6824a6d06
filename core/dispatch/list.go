package dispatch

import "github.com/wakecall/wakecall/core/wire"

// ListItems bounds the items of an order.
var ListItems = wire.List{Name: "items", Most: MaxInlineItems, Of: "items"}
