package workflows

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Task queues.
const (
	// TaskQueue is polled for workflow tasks, fast-path attempts included.
	TaskQueue = "wakecall"
	// JobQueue is polled for jobs. Each job takes a slot while it runs.
	JobQueue = "wakecall-jobs"
	// ControlQueue is polled for work that concerns no single timer: queue rates and alerts.
	ControlQueue = "wakecall-control"
	// DispatchQueue is polled for the shards of dispatches. Each shard takes a slot while it
	// sends.
	DispatchQueue = "wakecall-dispatch"
	// DefaultDeliveryQueue is polled for the paced attempts of business types without a
	// policy.
	DefaultDeliveryQueue = "wakecall-delivery"
)

// DeliveryQueue is polled for one business type's attempts that the server paces. The
// policy's limit and pause are the queue's.
func DeliveryQueue(businessType string) string { return DefaultDeliveryQueue + "/" + businessType }

// StreamQueue is polled for the attempts of one business type, by gateways with a connected
// receiver of the type. Without such a gateway, attempts wait there.
func StreamQueue(businessType string) string { return "wakecall-stream/" + businessType }

// Drains ends the identity of a poller of a [StreamQueue] that has no connected receiver.
const Drains = "/drains"

// AnswersQueue is polled by one gateway only, for answers to its rings that reached another
// gateway.
func AnswersQueue(gateway string) string { return "wakecall-answers-" + gateway }

// ReceiptQueue is polled by one worker process only, for questions about its attempts.
func ReceiptQueue(worker string) string { return "wakecall-receipts-" + worker }

// SignQueue names the signs of life of worker processes. It has no poller and no tasks.
const SignQueue = "wakecall-signs"

// GatewaySignQueue names those of gateways without a worker.
const GatewaySignQueue = "wakecall-gateway-signs"

// UnpolledQueue has no poller. A workflow that is started there never runs.
const UnpolledQueue = "wakecall-nobody"

// CheckQueue holds the workflows of a startup check of Temporal. It has no poller.
func CheckQueue(check string) string { return "wakecall-check-" + check }

// Workflow types.
const (
	TypeTimer = "WakecallTimer"
	// TypeCanary is a timer of a gateway's canary. With a type of its own, it is in no list, count
	// or forecast of timers.
	TypeCanary = "WakecallCanary"
	TypePolicy = "WakecallPolicy"
	TypeAlert  = "WakecallAlert"
	TypeProbe  = "WakecallProbe"
	// TypeTestRing sends one test event. It is no timer, and in no list, count or forecast.
	TypeTestRing = "WakecallTestRing"

	TypeBulk = "WakecallBulk"
	// TypeBulkPage is a workflow that never runs. Its input is a page of a bulk job's
	// findings.
	TypeBulkPage   = "WakecallBulkPage"
	TypeNotify     = "WakecallNudge"
	TypeRegistry   = "WakecallRegistry"
	TypeAnswerRing = "WakecallRingAnswer"

	TypeDispatch      = "WakecallDispatch"
	TypeDispatchShard = "WakecallDispatchShard"
	// TypeDispatchPage is a workflow that never runs. Its input is a page of items.
	TypeDispatchPage = "WakecallDispatchPage"

	// TypeEmergency is a workflow that never runs. Callbacks are paused while it is open.
	TypeEmergency = "WakecallEmergency"

	TypeLedger = "WakecallLedger"

	// TypeCheck is a workflow that never runs, see [CheckQueue].
	TypeCheck = "WakecallCheck"
)

// Activity types.
const (
	// ActivityRunState reports how a delivery stands under the live policy.
	ActivityRunState = "standing"
	// ActivityFirstAttempt is the first attempt, a local activity.
	ActivityFirstAttempt = "ring"
	// ActivityDeliver is every other attempt, retried by the server.
	ActivityDeliver = "deliver"
	// ActivityWatchStream waits while receivers take other attempts from a stream. The
	// server repeats it, which adds nothing to the run's history.
	ActivityWatchStream = "watch-stream"
	// ActivityReceipt reports what this worker knows of a run's first attempt, or which
	// worker to ask. ActivityAsk puts the same question to one worker.
	ActivityReceipt = "receipt"
	ActivityAsk     = "ask"
	// ActivityRecheck makes the worker that has preloaded a timer check whether it is still
	// wanted.
	ActivityRecheck = "look"
	// ActivitySetQueueRate sets the rate of a business type's queue.
	ActivitySetQueueRate = "govern"
	// ActivityAnswerRing passes a receiver's answer to its ring.
	ActivityAnswerRing = "answer"
	// ActivityAlert sends an event to the policy's recipient.
	ActivityAlert = "alert"
	// ActivityTestRing sends a test event. It is made on the queue of its business type.
	ActivityTestRing = "test-ring"
	// ActivityBulk applies one change to all timers that match a filter.
	ActivityBulk = "bulk"
	// ActivityDispatch sends the items of a shard, and ActivityCleanup deletes what a dispatch
	// has stored.
	ActivityDispatch = "dispatch"
	ActivityCleanup  = "sweep"
	// ActivityPutBack lists the items again that a shard's second round did not reach.
	ActivityPutBack = "put-back"
	// ActivityLastHeartbeat reports what the activity of a run has last reported, a local
	// activity.
	ActivityLastHeartbeat = "last-heartbeat"
)

// HeaderAfter is the header of a retry's start. It names the failed run.
const HeaderAfter = "wakecall-after"

// ChangeMark begins the request ids attached to a run with a waiting change. While a worker
// has the run's task, Temporal hides a signal from that worker and from a describe of the
// run. It does show a request id.
func ChangeMark(runID string) string { return "wakecall:change:" + runID + ":" }

// Signals, updates and error types.
const (
	SignalChange      = "change"
	SignalAcknowledge = "acknowledge"
	// SignalReceipt is sent by a stopping worker: the report of an attempt whose end was not
	// recorded.
	SignalReceipt      = "receipt"
	SignalBackPressure = "back-pressure"
	SignalClaim        = "claim"
	SignalRegister     = "register"
	// SignalCommit and SignalStored are sent by an upload, SignalPlan to the shards of a
	// dispatch, and SignalShard by the shards.
	SignalCommit = "commit"
	SignalStored = "stored"
	SignalPlan   = "plan"
	SignalShard  = "shard"
	// SignalProgress carries the progress of a dispatch to its workflow, for readers of the
	// workflow.
	SignalProgress = "progress"
	// SignalLedger records an entry of a ledger, and QueryLedger reads its series.
	SignalLedger       = "entry"
	QueryLedger        = "series"
	UpdatePutPolicy    = "put"
	UpdateDeletePolicy = "delete"
	UpdateLiftPressure = "lift-back-pressure"
	UpdateProbe        = "probe"

	// ErrorFailed is the failure type of a timer whose delivery failed.
	ErrorFailed = "failed"
	// ErrorVersion rejects a policy change that was based on an older version.
	ErrorVersion = "version-conflict"
)

// Memo keys.
const (
	MemoTimer  = "timer"
	MemoPolicy = "policy"
	// MemoAcceptance describes an attempt that its receiver accepted.
	MemoAcceptance = "acceptance"

	MemoBulk = "bulk"
	// MemoJob names the job that has tried a timer again.
	MemoJob      = "job"
	MemoRegistry = "registry"

	MemoDispatch = "dispatch"
	MemoShard    = "shard"
	// MemoItems is the number of items in a stored page.
	MemoItems = "items"

	MemoEmergency = "emergency"
)

// Search attributes, registered in the namespace.
var (
	AttrBusinessType = temporal.NewSearchAttributeKeyKeyword("BusinessType")
	AttrBusinessID   = temporal.NewSearchAttributeKeyKeyword("BusinessId")
	// AttrState adds to Temporal's own status: an open timer that is delivering, a completed
	// one that expired.
	AttrState = temporal.NewSearchAttributeKeyKeyword("TimerState")
	// AttrDueAt is the due time. Temporal's execution time is when a run begins, and it may
	// differ:
	//   - it is a lead before the due time, or after one that had passed
	//   - it is later by the jitter
	//   - it is far ahead for a paused timer
	AttrDueAt = temporal.NewSearchAttributeKeyTime("DueAt")
	// AttrWebhookID is the webhook id of a delivery that its receiver has accepted. An
	// acknowledgement finds the delivery by it. No other timer has the attribute.
	AttrWebhookID = temporal.NewSearchAttributeKeyKeyword("WebhookId")
	// AttrLabels has the labels of a timer, as key=value, and its marks, such as that of a recurring
	// one. A timer without either lacks the attribute.
	AttrLabels = temporal.NewSearchAttributeKeyKeywordList("TimerLabels")
)

// changeReadsHeartbeat is since when a run reads the progress of its activity before it cancels it.
const changeReadsHeartbeat = "reads-heartbeat-before-cancel"

// attrVersion is where the SDK records the decisions of [workflow.GetVersion] in a run.
const attrVersion = "TemporalChangeVersion"

// AllAttributes has a value for each search attribute of a timer.
func AllAttributes() temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		AttrBusinessType.ValueSet(""), AttrBusinessID.ValueSet(""), AttrState.ValueSet(""), AttrDueAt.ValueSet(time.Unix(0, 0).UTC()),
		AttrWebhookID.ValueSet(""), AttrLabels.ValueSet([]string{""}),
	)
}

// ProbeID is the workflow id of the readiness probe. Like a policy's id it
// holds a colon and no slash, so no timer's id can equal it.
const ProbeID = "wakecall:probe"

// RegistryID is the workflow id of the registry of business types.
const RegistryID = "wakecall:registry"

// TestRingID is the workflow id of the test ring of a business type at an occasion.
func TestRingID(businessType, occasion string) string {
	return "wakecall:test:" + businessType + ":" + occasion
}

// LedgerID is the workflow id of a ledger.
func LedgerID(number int) string { return "wakecall:ledger:" + strconv.Itoa(number) }

// LedgerOf is the number of the ledger that has the counts of a business type. The types of
// [tuning.Ledgers] ledgers share the costs of an entry.
func LedgerOf(businessType string) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(businessType)) // never fails
	return int(hash.Sum32() % tuning.Ledgers)
}

// EmergencyID is the workflow id of the pause of a business type, or, for "", of all types.
func EmergencyID(businessType string) string {
	if businessType == "" {
		businessType = "*" // not a valid business type
	}
	return "emergency:" + businessType
}

const policyPrefix = "policy:"

// PolicyID is the workflow id of a business type's policy.
func PolicyID(businessType string) string { return policyPrefix + businessType }

// PolicyOf is the inverse of [PolicyID].
func PolicyOf(workflowID string) (businessType string, ok bool) {
	return strings.CutPrefix(workflowID, policyPrefix)
}

// AlertID is the workflow id of the alert for an event on an occasion, such as a run. An
// event raised twice is one alert.
func AlertID(event timer.EventType, occasion string) string {
	return "alert:" + string(event) + ":" + occasion
}

// outcomeOccasion is the occasion of the alert about the end of the run's delivery.
func outcomeOccasion(runID string) string { return "outcome:" + runID }

// pressureOccasion is the occasion of the alert about back-pressure.
func pressureOccasion(runID string, since wire.Instant) string { return runID + ":" + since.String() }

// NotifyID is the workflow id of a notification to the worker that has preloaded a run.
func NotifyID(runID string) string { return "nudge:" + runID }

// AnswerRingID is the workflow id of an answer to a ring on its way to another gateway.
func AnswerRingID(ring string) string { return "answer:" + ring }

// JobKind holds the stored names of a kind of job.
type JobKind struct {
	// Workflow and Activity are types, and Memo is the memo key of the order.
	Workflow, Activity, Memo string
	// Prefix begins the workflow ids of its jobs.
	Prefix string
}

// BulkJob applies one change to all timers that match a filter.
var BulkJob = JobKind{Workflow: TypeBulk, Activity: ActivityBulk, Memo: MemoBulk, Prefix: "bulk:"}

// BulkPageID is the workflow id of a page of a bulk job's findings.
func BulkPageID(job string, number int) string {
	return "bulk-page:" + strconv.Itoa(number) + ":" + job
}

// WorkflowID is the workflow id of a job.
func (k JobKind) WorkflowID(id string) string { return k.Prefix + id }

// ID is the inverse of [JobKind.WorkflowID].
func (k JobKind) ID(workflowID string) (id string, ok bool) {
	return strings.CutPrefix(workflowID, k.Prefix)
}

const dispatchPrefix = "dispatch:"

// DispatchWorkflowID is the workflow id of a dispatch. Like a policy's it begins with a word
// and a colon, so no timer's id can equal it.
func DispatchWorkflowID(key wire.Key) string { return dispatchPrefix + key.String() }

// DispatchTypePrefix begins the ids of the dispatches of a business type.
func DispatchTypePrefix(businessType string) string { return dispatchPrefix + businessType + "/" }

// DispatchShardID is the workflow id of a shard.
func DispatchShardID(id dispatch.ID, round, shard int) string {
	return fmt.Sprintf("dispatch-shard:%s/%d.%d/%d", id.Key, id.Occurrence, round, shard)
}

// DispatchPages begins the ids of the pages that a shard stores. It holds the beginning of
// memo.Run: a worker that stood still may write or delete pages of an earlier dispatch with the
// same id. Dispatches of earlier versions find the pages that they have stored.
func DispatchPages(memo dispatch.Memo, shard int) string {
	id := DispatchShardID(memo.ID(), memo.Round, shard)
	if memo.PagesOfRun {
		id += "/" + runOf(memo)
	}
	return id
}

// DispatchUploads begins the ids of uploads for a dispatch. It holds the beginning of
// memo.Run, because an earlier dispatch may have had the same id. The beginning is enough
// and keeps the ids short.
func DispatchUploads(memo dispatch.Memo) string {
	return DispatchUploadPrefix(memo.Order.Key) + runOf(memo) + "/"
}

// runOf distinguishes the dispatches of one id.
func runOf(memo dispatch.Memo) string { return memo.Run[:min(len(memo.Run), 8)] }

// DispatchUploadPrefix begins the ids of the pages that a client has uploaded.
func DispatchUploadPrefix(key wire.Key) string { return "dispatch-page:" + key.String() + "/" }

// Encode wraps a payload so that Temporal stores its bytes as they are, and
// the Web UI shows JSON as JSON.
func Encode(p *timer.Payload) converter.RawValue {
	encoding, data := converter.MetadataEncodingNil, []byte(nil)
	if p != nil {
		encoding, data = converter.MetadataEncodingJSON, p.Data
		if p.Base64 {
			encoding = converter.MetadataEncodingBinary
		}
	}
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)},
		Data:     data,
	})
}
