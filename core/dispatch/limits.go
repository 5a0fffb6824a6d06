package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/timer"
)

// The limits of dispatches, each with its reason.
const (
	// MinRate and MaxRate bound the items that a dispatch sends in a second. The fastest exceeds
	// the measured rate of one engine on two cores.
	MinRate = 0.001
	MaxRate = 10_000
	// MaxWarmUp bounds the time in which a dispatch rises to its rate.
	MaxWarmUp = time.Hour
	// MaxLife is how long the items of a dispatch are stored after its due time.
	MaxLife = 365 * 24 * time.Hour
	// MaxInlineItems bounds the items in an order, and MaxInlineBytes the bytes of their
	// payloads. More items are uploaded.
	MaxInlineItems = 1000
	MaxInlineBytes = 1 << 20
	// MaxItem bounds the payload of an item, in bytes, as for a timer.
	MaxItem = timer.MaxPayload
	// MaxPage bounds the items of one callback, and of one answer of a loader.
	MaxPage     = 1000
	DefaultPage = 100
	// MaxShards bounds the shards of a loader. Each shard is a workflow.
	MaxShards = 100
	// MaxCursor bounds a loader's cursor, and MaxPageAnswer the verdicts on the items of one
	// callback, in bytes.
	MaxCursor     = 1024
	MaxPageAnswer = 1 << 20
	// MaxLoaderAnswer bounds one answer of a loader, in bytes.
	MaxLoaderAnswer = 8 << 20
)
