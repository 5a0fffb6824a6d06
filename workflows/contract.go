package workflows

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Task queues.
const (
	// TaskQueue is polled for workflow tasks, fast-path attempts included.
	TaskQueue = "wakecall"
	// JobQueue is polled for the work of jobs, each of which takes a slot for as long
	// as it runs.
	JobQueue = "wakecall-jobs"
	// ControlQueue is polled for what concerns no single timer: queue rates and
	// alerts.
	ControlQueue = "wakecall-control"
	// DispatchQueue is polled for the shards of dispatches, each of which takes a slot
	// while it sends.
	DispatchQueue = "wakecall-dispatch"
	// DefaultDeliveryQueue is polled for the paced attempts of business types that
	// have no policy.
	DefaultDeliveryQueue = "wakecall-delivery"
)

// DeliveryQueue is polled for the attempts of one business type that the server
// paces. The policy's limit and pause are the queue's.
func DeliveryQueue(businessType string) string { return DefaultDeliveryQueue + "/" + businessType }

// StreamQueue is polled for the attempts of one business type by gateways to which a
// receiver of the type is connected. Without one, attempts wait there.
func StreamQueue(businessType string) string { return "wakecall-stream/" + businessType }

// Drains ends the identity of those who poll a [StreamQueue] though no receiver is connected
// to them.
const Drains = "/drains"

// AnswersQueue is polled by one gateway only, for the answers to rings that it gave and that
// came to another one.
func AnswersQueue(gateway string) string { return "wakecall-answers-" + gateway }

// ReceiptQueue is polled by one worker process only, to be asked what it did.
func ReceiptQueue(worker string) string { return "wakecall-receipts-" + worker }

// NobodysQueue is polled by nobody: what is started there never runs.
const NobodysQueue = "wakecall-nobody"

// CheckQueue holds the workflows that a start checks Temporal with; nobody polls it.
func CheckQueue(check string) string { return "wakecall-check-" + check }

// Workflow types.
const (
	TypeTimer  = "WakecallTimer"
	TypePolicy = "WakecallPolicy"
	TypeAlert  = "WakecallAlert"
	TypeProbe  = "WakecallProbe"

	TypeBulk = "WakecallBulk"
	// TypeBulkPage is that of workflows which nobody runs: their input is a page of what a
	// bulk job has found.
	TypeBulkPage   = "WakecallBulkPage"
	TypeNotify     = "WakecallNudge"
	TypeRegistry   = "WakecallRegistry"
	TypeAnswerRing = "WakecallRingAnswer"

	TypeDispatch      = "WakecallDispatch"
	TypeDispatchShard = "WakecallDispatchShard"
	// TypeDispatchPage is that of workflows which nobody runs: their input is a page of
	// items.
	TypeDispatchPage = "WakecallDispatchPage"

	// TypeEmergency is that of workflows which pause callbacks for as long as they are
	// open. Nobody runs them.
	TypeEmergency = "WakecallEmergency"

	// TypeCheck is that of workflows which nobody runs, see [CheckQueue].
	TypeCheck = "WakecallCheck"
)

// Activity types.
const (
	// ActivityRunState says how a delivery stands under the live policy.
	ActivityRunState = "standing"
	// ActivityFirstAttempt is the first attempt, a local activity.
	ActivityFirstAttempt = "ring"
	// ActivityDeliver is every other attempt, retried by the server.
	ActivityDeliver = "deliver"
	// ActivityWatchStream waits for as long as receivers take other attempts from a stream.
	// The server repeats it, which leaves nothing in the history of the run.
	ActivityWatchStream = "watch-stream"
	// ActivityReceipt says what this worker knows of a run's first attempt, or
	// whom to ask. ActivityAsk is the same question, put to one worker.
	ActivityReceipt = "receipt"
	ActivityAsk     = "ask"
	// ActivityRecheck makes the worker that has preloaded a timer ask whether it is
	// still wanted.
	ActivityRecheck = "look"
	// ActivitySetQueueRate sets the rate of a business type's queue.
	ActivitySetQueueRate = "govern"
	// ActivityAnswerRing gives a receiver's answer to the ring that it is about.
	ActivityAnswerRing = "answer"
	// ActivityAlert tells whoever the policy names of an event.
	ActivityAlert = "alert"
	// ActivityBulk does the same with all timers that a filter finds.
	ActivityBulk = "bulk"
	// ActivityDispatch sends the items of a shard of a dispatch, and ActivitySweep clears
	// away what a dispatch has stored.
	ActivityDispatch = "dispatch"
	ActivitySweep    = "sweep"
	// ActivityPutBack lists the items again that a second round of a shard did not come to.
	ActivityPutBack = "put-back"
)

// HeaderAfter is the header of a start that tells the run after which a timer is tried again.
const HeaderAfter = "wakecall-after"

// ChangeMark begins the request ids that are attached to a run for which a
// change waits. Temporal keeps a signal from a worker that has the run's task,
// and from whoever describes the run; a request id it shows.
func ChangeMark(runID string) string { return "wakecall:change:" + runID + ":" }

// Signals, updates and error types.
const (
	SignalChange      = "change"
	SignalAcknowledge = "acknowledge"
	// SignalReceipt is sent by a worker that stops: what came of an attempt whose end was not
	// recorded.
	SignalReceipt      = "receipt"
	SignalBackPressure = "back-pressure"
	SignalClaim        = "claim"
	SignalRegister     = "register"
	// SignalCommit and SignalStored are sent by an upload, SignalPlan to the shards of a
	// dispatch and SignalShard by them.
	SignalCommit = "commit"
	SignalStored = "stored"
	SignalPlan   = "plan"
	SignalShard  = "shard"
	// SignalProgress tells a dispatch how far it is, for those who look at its workflow.
	SignalProgress     = "progress"
	UpdatePutPolicy    = "put"
	UpdateDeletePolicy = "delete"
	UpdateLiftPressure = "lift-back-pressure"
	UpdateProbe        = "probe"

	// ErrorFailed is the failure type of a timer that ended failed.
	ErrorFailed = "failed"
	// ErrorVersion rejects a policy change made on an older version.
	ErrorVersion = "version-conflict"
)

// Memo keys.
const (
	MemoTimer  = "timer"
	MemoPolicy = "policy"
	// MemoAcceptance is of an attempt that its receiver accepted.
	MemoAcceptance = "acceptance"

	MemoBulk = "bulk"
	// MemoJob is which job has tried a timer again.
	MemoJob      = "job"
	MemoRegistry = "registry"

	MemoDispatch = "dispatch"
	MemoShard    = "shard"
	// MemoItems is how many items a stored page has.
	MemoItems = "items"

	MemoEmergency = "emergency"
)

// Search attributes, registered in the namespace.
var (
	AttrBusinessType = temporal.NewSearchAttributeKeyKeyword("BusinessType")
	AttrBusinessID   = temporal.NewSearchAttributeKeyKeyword("BusinessId")
	// AttrState tells what Temporal's own status cannot: an open timer that is
	// delivering, a completed one that expired.
	AttrState = temporal.NewSearchAttributeKeyKeyword("TimerState")
	// AttrDueAt is the due time. Temporal's own execution time is when a run begins:
	// a lead before the due time, after it where that had passed, by the jitter later,
	// and far ahead for a paused timer.
	AttrDueAt = temporal.NewSearchAttributeKeyTime("DueAt")
	// AttrWebhookID is that of a delivery which its receiver has accepted, for it to be
	// found when it is acknowledged. No other timer has it.
	AttrWebhookID = temporal.NewSearchAttributeKeyKeyword("WebhookId")
	// AttrLabels has the labels of a timer, as key=value, and the keyword of a recurring one.
	// A timer without either has none.
	AttrLabels = temporal.NewSearchAttributeKeyKeywordList("TimerLabels")
)

// attrVersion is where the SDK notes what [workflow.GetVersion] decided in a run.
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

// EmergencyID is the workflow id of what pauses a business type, or, for "", everything.
func EmergencyID(businessType string) string {
	if businessType == "" {
		businessType = "*" // which no business type is called
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

// AlertID is the workflow id of the alert for an event on an occasion, such as a run: one
// event, one alert, however often it is raised.
func AlertID(event timer.EventType, occasion string) string {
	return "alert:" + string(event) + ":" + occasion
}

// outcomeOccasion is the occasion of the alert that tells how the run's delivery ended.
func outcomeOccasion(runID string) string { return "outcome:" + runID }

// pressureOccasion is the occasion of the alert that tells of back-pressure.
func pressureOccasion(runID string, since wire.Instant) string { return runID + ":" + since.String() }

// NotifyID is the workflow id of word to the worker that has preloaded a run.
func NotifyID(runID string) string { return "nudge:" + runID }

// AnswerRingID is the workflow id of an answer to a ring on its way to another gateway.
func AnswerRingID(ring string) string { return "answer:" + ring }

// JobKind is the names that Temporal stores of a kind of job.
type JobKind struct {
	// Workflow and Activity are types, and Memo the key of the order in the memo.
	Workflow, Activity, Memo string
	// Prefix begins the workflow ids of its jobs.
	Prefix string
}

// BulkJob does the same with all timers that a filter finds.
var BulkJob = JobKind{Workflow: TypeBulk, Activity: ActivityBulk, Memo: MemoBulk, Prefix: "bulk:"}

// BulkPageID is the workflow id of a page of what a bulk job has found.
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
