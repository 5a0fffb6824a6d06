package tuning

import "time"

// Calls of Temporal.
const (
	// CallTimeout bounds one call to Temporal, the SDK's own retries included. The SDK
	// gives a single try half of it: after five seconds without a word the caller is
	// told that the outcome is unknown.
	CallTimeout = 10 * time.Second
	// UnstoredPause is the time between two calls of which Temporal's store took too long to
	// write the first (0015).
	UnstoredPause = 50 * time.Millisecond
	// MaxListed is the largest page of Temporal's SQL visibility, in runs.
	MaxListed = 1000
	// IDsPerQuery is how many workflow ids one query of visibility names. Each may have 255
	// bytes, and Temporal bounds no query by default.
	IDsPerQuery = 100
	// DueSlack makes up for how the stores of visibility compare times: SQLite does as
	// texts, of which some lack their last zeros. The exact bounds are applied to what
	// comes back.
	DueSlack = time.Second
	// AttributePoll is the time between two attempts to use search attributes that have
	// just been registered.
	AttributePoll = 100 * time.Millisecond
)

// Lists.
const (
	// ProgressWidth is how many timers of a page are asked at once how far they are.
	ProgressWidth = 8
	// FirstWindow is how much time a list that is sorted by due time looks at first,
	// WindowGrowth by how much that grows while nothing is found, and LeastWindow how many
	// timers it lists at once at least. WindowParts is in how many parts it goes through a
	// window that held too much. WindowsPerPage bounds the windows of one page.
	FirstWindow    = time.Minute
	WindowGrowth   = 4
	LeastWindow    = 100
	WindowParts    = 16
	WindowsPerPage = 100
)

// Counts of all timers.
const (
	// StatsTrusted is how long a count is given again at least, and StatsRest for how many
	// times as long as it took.
	StatsTrusted = time.Second
	StatsRest    = 10
	// StatsWidth is how many counts are under way at once. StatsListed is how many timers
	// that deliver, are paused or have expired are listed to be told apart; more of them are
	// counted type by type.
	StatsWidth  = 4
	StatsListed = 5000
)

// Forecasts (0065).
const (
	// ForecastKept is the time ahead whose minutes are kept in memory, 60 KB for a type.
	ForecastKept = 25 * time.Hour
	// ForecastFresh is how long a count is trusted at least, and ForecastRest for how many
	// times as long as it took, times the types that were asked about or booked in the last
	// ForecastAsked: all of it takes a twentieth of the store's time at most.
	ForecastFresh = 5 * time.Second
	ForecastRest  = 20
	ForecastAsked = time.Minute
	// ForecastTypes is how many types are counted without being asked about, 6 MB,
	// ForecastRound the time between two rounds of them, and ForecastKeepRest how many times
	// as long as it took a gateway rests after each, except for its first count: they take a
	// hundredth of the store's time.
	ForecastTypes    = 100
	ForecastRound    = 30 * time.Second
	ForecastKeepRest = 100
	// ForecastQuick is how long a count may take for which a question waits, and
	// ForecastStale how old the last one may be for which it does not.
	ForecastQuick = 50 * time.Millisecond
	ForecastStale = 5 * time.Minute
	// ForecastFine is the step of minutes in which more falls due than the limit lets through
	// in a second.
	ForecastFine = time.Second
	// ForecastTimeout bounds a count, and ForecastWidth is how many queries of it are under
	// way at once.
	ForecastTimeout = 30 * time.Second
	ForecastWidth   = 4
	// ForecastListed is how many timers are listed where they would be counted else,
	// ForecastPieces into how many parts a time is divided that holds more, and ForecastDense
	// how many timers a step has on average where each step is counted at once.
	ForecastListed = 200
	ForecastPieces = 12
	ForecastDense  = 10
	// ForecastRefined is how many of those are counted second by second, the fullest.
	ForecastRefined = 60
	// ForecastOverdue is how long ago an open timer may have fallen due that goes first:
	// what is older waits for a retry.
	ForecastOverdue = 24 * time.Hour
	// ForecastOccurrences bounds what is computed of rules, of one timer and of all.
	ForecastOccurrencesEach = 100_000
	ForecastOccurrences     = 5_000_000
	// ForecastDispatches is how many open dispatches of a type are looked at: each that sends
	// is asked how far its shards are.
	ForecastDispatches = 20
	// ForecastBooked bounds the bookings that are kept for the next count.
	ForecastBooked = 100_000
)

// Bookings.
const (
	// LeastBookings go at once, however long each takes: the engine may be slow for
	// other reasons (0012).
	LeastBookings = 8
	// BookingSlowdown is how many times as long as the quickest a booking may take.
	// With fewer under way, the programs of a small machine keep falling asleep over
	// one another's work (0012).
	BookingSlowdown = 8
	// LongestQueue is how long a booking waits to be let go, so that there is time for
	// the call itself.
	LongestQueue = CallTimeout / 2
	// DispatchPerSecond is how many timers a second an engine on two cores hands out
	// beside everything else that it has to do.
	DispatchPerSecond = 75
	// HandOutShare is the part of the bookings that it takes in a second which it hands out in
	// one where the processors are taken by others, and LeastHandOuts what is expected of any:
	// 53 bookings and 14 timers handed out were measured (0008).
	HandOutShare  = 0.25
	LeastHandOuts = 10
	// BurstSeconds bounds how many seconds a gateway counts bookings for, about 1 MB.
	BurstSeconds = 1 << 14
	// SummaryTarget is how many bytes of a target a summary shows: Temporal takes 400.
	SummaryTarget = 200
)

// The quota of open timers. Counting is a query over Temporal's visibility; without
// visibility nobody is held up, and nobody is refused.
const (
	// CountTrusted is how long a count of open timers is trusted.
	CountTrusted = time.Second
	// CountPatience is how long bookings wait for a new count, and CountStale how old
	// the last one may be by which they go then.
	CountPatience = 200 * time.Millisecond
	CountStale    = 5 * time.Second
	// PendingRetryAfter is when it is worth trying again where the quota is full.
	PendingRetryAfter = 5 * time.Second
)

// Changes of a timer that a worker may hold.
const (
	// NearWaking is how long before it wakes a timer may be with a worker: the clocks
	// differ.
	NearWaking = time.Second
	// NotifyTimeout is how long word to a worker may take.
	NotifyTimeout = 10 * time.Second
	// MarkTimeout ends what a mark starts where somebody deleted the timer meanwhile.
	MarkTimeout = time.Second
	// DeliveryWait is for how long an acknowledgement by a key waits for visibility to hear
	// of its delivery, and DeliveryPoll the time between two questions: it lags behind by
	// up to about a second (0068).
	DeliveryWait = 2 * time.Second
	DeliveryPoll = 100 * time.Millisecond
	// TaskPoll and TaskWait pace the wait for a worker to take what happened to a run.
	TaskPoll        = 20 * time.Millisecond
	LongestTaskPoll = 320 * time.Millisecond
	TaskWait        = 2 * time.Second
	// SettledWait is for how long a pause waits to learn whether there is anything to do.
	SettledWait = 500 * time.Millisecond
)

// Policies.
const (
	// MinPolicyInterval is the least time between two listings of all policies by one
	// worker: each reads all of them.
	MinPolicyInterval = time.Second
	// CachedPolicies bounds the cache against callers that make up business types.
	CachedPolicies = 10_000
	// PolicyReadSlack is how much older than the ttl the policy may be that a booking is
	// acknowledged by: the read may have been under way already.
	PolicyReadSlack = time.Second
	// VisibilityLag is what visibility may lag behind, beyond what it is seen to.
	VisibilityLag = time.Second
	// KeyPages is how many pages of an id's earlier bookings are looked through for an
	// idempotency key.
	KeyPages = 10
	// ClosingPoll is the time between two counts while a policy is closed. A recurring
	// timer is not counted for a moment between two of its runs.
	ClosingPoll = 200 * time.Millisecond
	// PressureStep is how much longer a wish for patience must be than the one in force
	// to be worth telling: every refused callback of a burst repeats it.
	PressureStep = time.Second
	// PressureSettles is how long a wish that was noted in this process outlives readings of
	// the store that do not know of it: the signal to the policy's workflow takes a worker.
	PressureSettles = 30 * time.Second
)

// Emergencies.
const (
	// EmergencyTrusted is how long it is trusted that a type is paused, or is not. With
	// EmergencyWait it keeps the promise of 10 seconds.
	EmergencyTrusted = 2 * time.Second
	// EmergencyWait is how long an attempt waits that was handed out while its type is
	// paused. By the next one the worker takes none any more.
	EmergencyWait = 5 * time.Second
)

// TakenWithin is how long work may lie in a queue before it is said to wait for a worker.
const TakenWithin = 5 * time.Second

// QueueTrusted is for how long it is taken as known how many attempts wait on a queue: a list
// of timers asks once.
const QueueTrusted = time.Second

// The registry of queues.
const (
	// RegistrationRest is how long a type stays registered that has no policy: the
	// policy may be on its way.
	RegistrationRest = time.Hour
	// UnregisteredChecked is how many types are checked in a round that may have no
	// policy any more.
	UnregisteredChecked = 100
)

// The reconciler.
const (
	// ChecksPerSecond is how many runs a process checks in a second: each check is one
	// call of Temporal.
	ChecksPerSecond = 200
	// UnansweredChecks is how many checks in a row may remain without an answer: then it
	// is Temporal that is out of order, and no single run.
	UnansweredChecks = 20
	// LongestSkip is how long a run is left alone at most.
	LongestSkip = time.Hour
	// SkippedRuns bounds how many runs a process leaves alone, about 10 MB.
	SkippedRuns = 200_000
	// UnreadableLogged is how many timers one round names that it could not read.
	UnreadableLogged = 10
)

// Bulk jobs (0066).
const (
	// BulkPage is how many timers of a bulk job are listed, and stored, at once: about
	// 50 KB, and what became of them goes along with each heartbeat.
	BulkPage = 250
	// BulkLife is for how long at most the pages of a bulk job are open. The job ends them
	// when it ends.
	BulkLife = 90 * 24 * time.Hour
	// BulkWait is how long a bulk job waits for the effect of one change.
	BulkWait = 10 * time.Second
	// BulkClosers is how many pages are ended at once.
	BulkClosers = 16
)

// Checks at the start (0020).
const (
	// StartCheckTimeout bounds all of them, and CleanTimeout what deletes their workflows.
	StartCheckTimeout = 10 * time.Second
	CleanTimeout      = 5 * time.Second
	// ClockTolerance is how far the clocks of Temporal and of this process may be apart.
	ClockTolerance = time.Second
	// TrialLife ends what is not deleted.
	TrialLife = time.Minute
	// LongestReuse is how long Temporal may keep a run from being continued, in tune with
	// deploy/dynamicconfig.yaml.
	LongestReuse = 50 * time.Millisecond
	// BacklogPoll is the time between two looks at how many tasks a queue has.
	BacklogPoll = 5 * time.Millisecond
)

// Dispatches.
const (
	// DispatchPerCore is how many items a second a processor sends, as long as nothing is known
	// of the workers (0040): 7,950 on two that everything shared.
	DispatchPerCore = 4000
	// CapacitySlack is how much more than was shown a dispatch may ask for.
	CapacitySlack = 1.05
	// CapacityKnown is for how long it is known that workers fell behind, CapacityListed how
	// often the last CapacityDispatches dispatches are looked at for that.
	CapacityKnown      = 24 * time.Hour
	CapacityListed     = time.Minute
	CapacityDispatches = 20
	// CapacityPatience is how long an order waits for that list.
	CapacityPatience = 200 * time.Millisecond
	// MemoTrusted is how long it is trusted what a dispatch says of itself.
	MemoTrusted = 400 * time.Millisecond
	// EffectPoll is the time between two looks for the effect of a change.
	EffectPoll = 50 * time.Millisecond
	// ShardReads is how many shards are read at once, and SweepWidth how many pages are
	// cleared away at once.
	ShardReads = 16
	SweepWidth = 16
	// UploadsKnown is how many parts of uploads that came to nothing a dispatch clears away
	// itself.
	UploadsKnown = 100
	// ChangeableHistory is how long the history of a dispatch may be for it to be changed: five
	// events for a change, and three for each shard that is told of it. Temporal terminates
	// a workflow of 51,200, and what is left is for its shards and its end.
	ChangeableHistory = 40_000
	// UploadSign is the time between two signs of life of an upload, which may be silent for
	// an hour.
	UploadSign = 10 * time.Minute
)
