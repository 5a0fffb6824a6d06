package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/timer"
)

// The limits of dispatches, each with its reason.
const (
	// MinRate and MaxRate bound the items that a dispatch sends in a
	// second. The fastest is beyond what one engine on two cores was measured to do.
	MinRate = 0.001
	MaxRate = 10_000
	// MaxWarmUp bounds the time over which a dispatch rises to its rate.
	MaxWarmUp = time.Hour
	// MaxLife is for how long after its due time the items of a dispatch are kept.
	MaxLife = 365 * 24 * time.Hour
	// MaxInlineItems and MaxInlineBytes bound the items that an order brings along, and
	// the bytes of their payloads. More of them are uploaded.
	MaxInlineItems = 1000
	MaxInlineBytes = 1 << 20
	// MaxItem bounds the payload of an item, in bytes, as that of a timer.
	MaxItem = timer.MaxPayload
	// MaxPage bounds the items of one callback, and of one answer of a loader.
	MaxPage     = 1000
	DefaultPage = 100
	// MaxShards bounds the shards of a loader, each of which is a workflow.
	MaxShards = 100
	// MaxCursor bounds a loader's cursor, in bytes, and MaxPageAnswer the verdicts on the
	// items of one callback.
	MaxCursor     = 1024
	MaxPageAnswer = 1 << 20
	// MaxLoaderAnswer bounds one answer of a loader, in bytes.
	MaxLoaderAnswer = 8 << 20
)
