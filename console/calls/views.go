package calls

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/links"
)

// What the pages show of the API's answers. A field that an answer leaves out is zero.

// Key names a timer.
type Key struct {
	BusinessType string `json:"business_type"`
	BusinessID   string `json:"business_id"`
}

// Path is the page of the timer.
func (k Key) Path() string { return k.beneath(links.Root) }

// Resource is the timer in the API.
func (k Key) Resource() string { return k.beneath(Root) }

func (k Key) beneath(root string) string {
	return root + "timers/" + url.PathEscape(k.BusinessType) + "/" + url.PathEscape(k.BusinessID)
}

// DispatchPath is the path of a dispatch beneath a root: that of the API, or that of the console.
func DispatchPath(root, businessType, id string) string {
	return root + "dispatches/" + url.PathEscape(businessType) + "/" + url.PathEscape(id)
}

// TimerPage is one page of a list of timers.
type TimerPage struct {
	Timers        []Timer `json:"timers"`
	NextPageToken string  `json:"next_page_token"`
}

// Timer is what the API shows of a timer.
type Timer struct {
	Key
	Sent
	Status        string            `json:"status"`
	DueAt         time.Time         `json:"due_at"`
	LatestAt      time.Time         `json:"latest_at"`
	Revision      int               `json:"revision"`
	Round         int               `json:"round"`
	Attempts      int               `json:"attempts"`
	NextAttemptAt time.Time         `json:"next_attempt_at"`
	LastFailure   *Failure          `json:"last_failure"`
	WaitsFor      string            `json:"waits_for"`
	DeliveredAt   time.Time         `json:"delivered_at"`
	LatenessMS    *int64            `json:"lateness_ms"`
	WebhookID     string            `json:"webhook_id"`
	Priority      int               `json:"priority"`
	Labels        map[string]string `json:"labels"`
	CreatedAt     time.Time         `json:"created_at"`
	Note          string            `json:"note"`
	Occurrence    int               `json:"occurrence"`
	// Recurrence is nil for a timer that rings once.
	Recurrence      *Rule        `json:"recurrence"`
	LastOccurrence  *Occurrence  `json:"last_occurrence"`
	CancelRequested bool         `json:"cancel_requested"`
	Callback        *destination `json:"callback"`
	Links           struct {
		WebUI string `json:"web_ui"`
	} `json:"links"`
}

// Sent is how large the payload of a timer is, and its digest; "" where the user may not know that. A list
// tells neither.
type Sent struct {
	Size   int    `json:"payload_bytes"`
	Digest string `json:"payload_sha256"`
}

// Address is the receiver of the timer's own, for people; "" where it has none, or a stream.
func (t Timer) Address() string {
	if t.Callback == nil {
		return ""
	}
	return t.Callback.Address()
}

// IsWeb reports whether the address can be opened.
func (t Timer) IsWeb() bool {
	return strings.HasPrefix(t.Address(), "https://") || strings.HasPrefix(t.Address(), "http://")
}

// Finished reports whether it does not ring again by itself.
func (t Timer) Finished() bool {
	return t.Status != StatusScheduled && t.Status != StatusPaused && t.Status != StatusDelivering
}

// LabelsOf are labels on one line.
func LabelsOf(labels map[string]string) string {
	var all []string
	for name, value := range labels {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// LabelLine is all labels on one line.
func (t Timer) LabelLine() string { return LabelsOf(t.Labels) }

// Open reports whether it may still be changed.
func (t Timer) Open() bool { return !t.Finished() && !t.CancelRequested }

// Failure is why it failed last, or its last occurrence did; nil for neither.
func (t Timer) Failure() *Failure {
	if t.LastFailure == nil && t.LastOccurrence.Failed() {
		return t.LastOccurrence.LastFailure
	}
	return t.LastFailure
}

// Pick is what the box beside a timer sends.
func (t Timer) Pick() string {
	return strings.Join([]string{t.BusinessType + "/" + t.BusinessID, strconv.Itoa(t.Revision), strconv.Itoa(t.Round), t.WebhookID}, " ")
}

// What a timer waits for: WaitsForReceiver if its receiver connects by itself, and WaitsForAck if the receiver
// has accepted it.
const (
	WaitsForReceiver  = "receiver"
	WaitsForAck       = "ack"
	WaitsForEmergency = "emergency"
	WaitsForWorker    = "worker"
)

// Reasons for a state that are no waits.
const (
	ReasonOverdue = "overdue"
	ReasonUnread  = "unread"
)

// The statuses that the pages ask about.
const (
	StatusScheduled  = "scheduled"
	StatusPaused     = "paused"
	StatusDelivering = "delivering"
	StatusDelivered  = "delivered"
	StatusFailed     = "failed"
	StatusExpired    = "expired"
	statusCancelled  = "cancelled"
	// StatusRunning is a status of jobs and dispatches.
	StatusRunning = "running"
)

// Actor is the author of a change.
type Actor struct {
	Name string `json:"name"`
	Role string `json:"role"`
	By   string `json:"by"`
	Via  string `json:"via"`
	Job  string `json:"job"`
}

// Entry is one of the story of a timer.
type Entry struct {
	At          time.Time     `json:"at"`
	Event       string        `json:"event"`
	Who         *Actor        `json:"who"`
	WhoUnknown  bool          `json:"who_unknown"`
	Identity    string        `json:"identity"`
	Reason      string        `json:"reason"`
	Result      string        `json:"result"`
	Errors      []FieldError  `json:"errors"`
	Changes     []FieldChange `json:"changes"`
	DueAt       time.Time     `json:"due_at"`
	Revision    int           `json:"revision"`
	Occurrence  int           `json:"occurrence"`
	Attempt     *Attempt      `json:"attempt"`
	Number      int           `json:"number"`
	LastFailure *Failure      `json:"last_failure"`
	LatenessMS  *int64        `json:"lateness_ms"`
}

// Attempt is one attempt of a delivery.
type Attempt struct {
	Number  int       `json:"number"`
	DueAt   time.Time `json:"due_at"`
	SentAt  time.Time `json:"sent_at"`
	EndedAt time.Time `json:"ended_at"`
	TookMS  int64     `json:"took_ms"`
	Status  int       `json:"status"`
	Class   string    `json:"class"`
	Answer  string    `json:"answer"`
	Link    string    `json:"link"`
	Worker  string    `json:"worker"`
	Result  string    `json:"result"`
	RetryIn string    `json:"retry_in"`
	Withheld
}

// Withheld is what the API has left out of an answer, since the user has no right to see payloads.
type Withheld struct {
	LeftOut []string `json:"left_out"`
}

// HidesAnswer reports whether what the receiver has answered is among it.
func (w Withheld) HidesAnswer() bool { return slices.Contains(w.LeftOut, "answer") }

// Fact is one reason why a timer is where it is.
type Fact struct {
	Fact string `json:"fact"`
	Text string `json:"text"`
	// Everything reports whether an emergency has paused all business types, and not this one alone.
	Everything bool `json:"everything"`
	// Attempt is the number of the last failed attempt; Status and Class tell how it failed.
	Attempt int    `json:"attempt"`
	Status  int    `json:"status"`
	Class   string `json:"class"`
	// Queued is how many attempts wait at a limit, and PerSecond how many leave it.
	Queued    int     `json:"queued"`
	PerSecond float64 `json:"per_second"`

	Source string    `json:"source"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	By     string    `json:"by"`
	Note   string    `json:"note"`
}

// Processes are the processes of the installation, gravest first.
type Processes struct {
	Processes []Process `json:"processes"`
	// Gateway is the id of the one that answers.
	Gateway string `json:"gateway"`
	Note    string `json:"note"`
}

// Process is a gateway, a worker, or both. What it does not tell is nil.
type Process struct {
	ID        string    `json:"id"`
	Role      string    `json:"role"`
	State     string    `json:"state"`
	Version   string    `json:"version"`
	Host      string    `json:"host"`
	LastSeen  time.Time `json:"last_seen"`
	Preloaded *int      `json:"preloaded"`
	InFlight  *int      `json:"in_flight"`
}

// Mixed reports whether several versions run at once. One that is not told is another one.
func (p Processes) Mixed() bool {
	return slices.ContainsFunc(p.Processes, func(one Process) bool { return one.Version != p.Processes[0].Version })
}

// Pause is an emergency pause: of one business type, or of everything.
type Pause struct {
	Everything   bool      `json:"everything"`
	BusinessType string    `json:"business_type"`
	Author       string    `json:"author"`
	Since        time.Time `json:"since"`
	Note         string    `json:"note"`
}
