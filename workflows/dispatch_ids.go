package workflows

import (
	"fmt"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

const dispatchPrefix = "dispatch:"

// DispatchWorkflowID is the workflow id of a dispatch. Like a policy's it begins with a
// word and a colon, so no timer's id can equal it.
func DispatchWorkflowID(key wire.Key) string { return dispatchPrefix + key.String() }

// DispatchTypePrefix begins the ids of the dispatches of a business type.
func DispatchTypePrefix(businessType string) string { return dispatchPrefix + businessType + "/" }

// DispatchShardID is the workflow id of a shard.
func DispatchShardID(id dispatch.ID, round, shard int) string {
	return fmt.Sprintf("dispatch-shard:%s/%d.%d/%d", id.Key, id.Occurrence, round, shard)
}

// DispatchUploads begins the ids of what clients have uploaded for a dispatch: its id may
// have been another one's. A part of its name is enough for that, and keeps the ids short.
func DispatchUploads(memo dispatch.Memo) string {
	return DispatchUploadPrefix(memo.Order.Key) + memo.Run[:min(len(memo.Run), 8)] + "/"
}

// DispatchUploadPrefix begins the ids of the pages that a client has uploaded.
func DispatchUploadPrefix(key wire.Key) string { return "dispatch-page:" + key.String() + "/" }
