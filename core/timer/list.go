package timer

import "github.com/wakecall/wakecall/core/wire"

// ListLabels bounds the labels of a timer.
var ListLabels = wire.List{Name: "labels", Most: MaxLabels, Of: "labels"}
