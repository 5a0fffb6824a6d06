package tuning

import "time"

// Calls of Temporal.
const (
	// CallTimeout bounds one call to Temporal, including the SDK's own retries. The SDK gives a
	// single try half of it. After five seconds without an answer the caller learns that the
	// outcome is unknown.
	CallTimeout = 10 * time.Second
	// UnstoredPause is the pause before a call is repeated because Temporal's store took too
	// long to write (0015).
	UnstoredPause = 50 * time.Millisecond
	// EndPoll bounds one long poll for the end of a run. Temporal answers it a second earlier.
	EndPoll = 3 * time.Second
	// MaxListed is the largest page of Temporal's SQL visibility, in runs.
	MaxListed = 1000
	// IDsPerQuery is how many workflow ids one query of visibility names. Each may have 255
	// bytes, and Temporal does not bound a query by default.
	IDsPerQuery = 100
	// DueSlack widens the bounds of a query by due time. SQLite compares times as texts, some
	// without their last zeros. The exact bounds are applied to the results.
	DueSlack = time.Second
	// AttributePoll is the interval of tries to use newly registered search attributes.
	AttributePoll = 100 * time.Millisecond
)

// Lists.
const (
	// ProgressWidth is how many timers of a page are queried for their progress concurrently.
	ProgressWidth = 8
	// FirstWindow is the first time span of a list sorted by due time. WindowGrowth is its
	// growth factor while nothing is found, and LeastWindow the smallest number of timers listed
	// at once. WindowParts is the division of a window with too many timers. WindowsPerPage
	// bounds the windows of one page.
	FirstWindow    = time.Minute
	WindowGrowth   = 4
	LeastWindow    = 100
	WindowParts    = 16
	WindowsPerPage = 100
)

// Outcomes: how timers ended, minute by minute.
const (
	// OutcomesPace is the rest for each question of the counts of all types together, until OutcomesDebt, and
	// OutcomesAtOnce how many are asked at once after a rest: those of a first look at ten types. A count that a
	// user waits for does not rest, and the others rest for it.
	OutcomesPace   = 2500 * time.Millisecond
	OutcomesDebt   = time.Minute
	OutcomesAtOnce = 20
	// OutcomesFresh is the least time that a count is trusted, and OutcomesTimeout bounds one.
	// OutcomesQuestion is how long the last minutes of a type rest for each question that they took, times the
	// types asked for within OutcomesAsked: all together ask one question in that time. The hours before rest by
	// themselves in the same way until all are counted.
	OutcomesFresh    = 5 * time.Second
	OutcomesTimeout  = 2 * time.Minute
	OutcomesQuestion = 4 * time.Second
	OutcomesAsked    = time.Minute
	// OutcomesSettled is how long after its end a minute is counted for the last time: visibility
	// shows by then what ended in it.
	OutcomesSettled = time.Minute
	// OutcomesTypes is how many types are kept, 7 MB.
	OutcomesTypes = 200
	// OutcomesRound is the interval of the rounds that look for types with failures.
	OutcomesRound = 30 * time.Second
	// OutcomesListed is how many timers are listed instead of counted. OutcomesPieces is the
	// division of a time span with more.
	OutcomesListed = 200
	OutcomesPieces = 12
)

// PrometheusTimeout bounds a question to Prometheus: a page waits for it.
const PrometheusTimeout = 5 * time.Second

// PrometheusTrusted is how long an answer of Prometheus is cached: as long as a page shows the same
// plots. Prometheus itself reads the metrics every 15 s.
const PrometheusTrusted = 10 * time.Second

// A process keeps the lateness of LatenessTypes types for LatenessHours, 72 KB each: a day, and the
// hour that goes on.
const (
	LatenessTypes = 200
	LatenessHours = 25
)

// Counts of all timers.
const (
	// StatsTrusted is the least time that a count is reused, and StatsRest the same as a
	// multiple of the count's duration.
	StatsTrusted = time.Second
	StatsRest    = 10
	// StatsWidth is how many counts run concurrently. StatsListed bounds the delivering, paused,
	// expired or redelivered timers that are listed to distinguish them. More are counted type by type.
	StatsWidth  = 4
	StatsListed = 5000
)

// Forecasts (0065).
const (
	// ForecastKept is the time ahead whose minutes are cached, 60 KB for a type.
	ForecastKept = 25 * time.Hour
	// ForecastFresh is the least time that a count is trusted, and ForecastRest the same as a
	// multiple of the count's duration. Both are times the types requested or booked within
	// ForecastAsked. All counts together take at most a twentieth of the store's time.
	ForecastFresh = 10 * time.Second
	ForecastRest  = 20
	ForecastAsked = time.Minute
	// ForecastNear is the time ahead that is counted each time, and ForecastWhole how long the
	// rest may be taken from an earlier count. A request is for 24 hours.
	ForecastNear  = 2 * time.Minute
	ForecastWhole = 50 * time.Minute
	// ForecastTypes is how many types are counted without a request, 6 MB. ForecastRound is the
	// interval of their rounds. ForecastKeepRest is a gateway's rest after each count but its
	// first, as a multiple of its duration, and ForecastQuestion for each of its questions. These
	// counts take a hundredth of the store's time, and half a question a second. They serve the pages
	// that are kept up to date as well.
	ForecastTypes    = 100
	ForecastRound    = 30 * time.Second
	ForecastKeepRest = 100
	ForecastQuestion = 2 * time.Second
	// ForecastQuick bounds a count that a request waits for. ForecastStale is the largest age of
	// a count that serves a request without a wait.
	ForecastQuick = 50 * time.Millisecond
	ForecastStale = 5 * time.Minute
	// ForecastFine is the step within minutes in which more falls due than the limit allows in a
	// second.
	ForecastFine = time.Second
	// ForecastTimeout bounds a count, and ForecastWidth its concurrent queries.
	ForecastTimeout = 30 * time.Second
	ForecastWidth   = 4
	// ForecastListed is how many timers are listed instead of counted: a page. ForecastPieces is the
	// division of a time span with more, spread unevenly. ForecastDense is the average number of timers
	// in a step from which each step is counted at once: to list them would take longer.
	ForecastListed = MaxListed
	ForecastPieces = 12
	ForecastDense  = 100
	// ForecastRefined is how many of those, the fullest, are counted second by second.
	ForecastRefined = 60
	// ForecastOverdue is how long ago an open timer that goes first may have fallen due. An
	// older one waits for a retry.
	ForecastOverdue = 24 * time.Hour
	// ForecastOccurrencesEach and ForecastOccurrences bound the computed occurrences of rules,
	// of one timer and of all.
	ForecastOccurrencesEach = 100_000
	ForecastOccurrences     = 5_000_000
	// ForecastDispatches bounds the open dispatches of a type in a forecast. Each sending
	// dispatch is queried for the progress of its shards.
	ForecastDispatches = 20
	// ForecastBooked bounds the bookings cached for the next count.
	ForecastBooked = 100_000
)

// Bookings.
const (
	// LeastBookings go at once, however long each takes: the engine may be slow for other
	// reasons (0012).
	LeastBookings = 8
	// BookingSlowdown is the longest duration of a booking as a multiple of the quickest. With
	// less concurrency, the programs of a small machine keep falling asleep over one another's
	// work (0012).
	BookingSlowdown = 8
	// LongestQueue bounds the wait of a booking, to leave time for the call itself.
	LongestQueue = CallTimeout / 2
	// DispatchPerSecond is how many timers a second an engine on two cores hands out beside its
	// other work.
	DispatchPerSecond = 75
	// HandOutShare is the ratio of timers handed out to bookings recorded on a busy machine.
	// LeastHandOuts is the least expected of any machine. The measured values were 53 bookings
	// and 14 timers handed out a second (0008).
	HandOutShare  = 0.25
	LeastHandOuts = 10
	// BurstSeconds bounds the seconds for which a gateway counts bookings, about 1 MB.
	BurstSeconds = 1 << 14
	// SummaryTarget bounds the target in a summary, in bytes: Temporal accepts 400.
	SummaryTarget = 200
)

// The quota of open timers. Counting is a query over Temporal's visibility. Without visibility,
// bookings are neither delayed nor refused.
const (
	// CountTrusted is how long a count of open timers is trusted.
	CountTrusted = time.Second
	// CountPatience is how long bookings wait for a new count. CountStale is the largest age of
	// the last count that they then use.
	CountPatience = 200 * time.Millisecond
	CountStale    = 5 * time.Second
	// PendingRetryAfter is the wait before another try if the quota is full.
	PendingRetryAfter = 5 * time.Second
)

// Changes of a timer that a worker may hold.
const (
	// NearWaking is how long before its wake-up a timer may already be with a worker, because
	// clocks differ.
	NearWaking = time.Second
	// ErrandLife bounds a workflow that carries one word to one worker or gateway. The word
	// itself has [QuestionTimeout]. It is long, for Temporal does not tell a worker that it has
	// ended a run: a busy one would keep it in memory until its cache is full.
	ErrandLife = time.Minute
	// MarkTimeout bounds the run that a mark starts if the timer has been deleted.
	MarkTimeout = time.Second
	// DeliveryWait is how long an acknowledgement by a key waits for visibility to list its
	// delivery, and DeliveryPoll the interval of the queries. Visibility lags by up to about a
	// second (0068).
	DeliveryWait = 2 * time.Second
	DeliveryPoll = 100 * time.Millisecond
	// TaskPoll and TaskWait pace the wait for a worker to take a run's new events.
	TaskPoll        = 20 * time.Millisecond
	LongestTaskPoll = 320 * time.Millisecond
	TaskWait        = 2 * time.Second
	// SettledWait is how long a pause waits to learn whether it has an effect.
	SettledWait = 500 * time.Millisecond
)

// Policies.
const (
	// MinPolicyInterval is the shortest interval between two listings of all policies by one
	// worker, because each reads all of them.
	MinPolicyInterval = time.Second
	// CachedPolicies bounds the cache against callers that invent business types.
	CachedPolicies = 10_000
	// PolicyReadSlack is how far the policy behind a booking may exceed the ttl, because its
	// read may have begun earlier.
	PolicyReadSlack = time.Second
	// VisibilityLag is the assumed lag of visibility beyond the observed one.
	VisibilityLag = time.Second
	// KeyPages bounds the pages of an id's earlier bookings that are searched for an idempotency
	// key.
	KeyPages = 10
	// ClosingPoll is the interval of counts while a policy is closed. A recurring timer is not
	// counted for a moment between two of its runs.
	ClosingPoll = 200 * time.Millisecond
	// PressureStep is how much longer than the present pause a request must be to be sent on,
	// because every refused callback of a burst repeats it.
	PressureStep = time.Second
	// PressureSettles is how long this process prefers a noted request for a pause to older
	// readings of the store. The signal to the policy's workflow needs a worker.
	PressureSettles = 30 * time.Second
)

// Emergencies.
const (
	// EmergencyTrusted is how long the state of a type's pause is cached. With EmergencyWait it
	// keeps the promise of 10 seconds.
	EmergencyTrusted = 2 * time.Second
	// EmergencyWait is how long an attempt waits that was handed out during a pause. Before the
	// next one the worker stops taking any.
	EmergencyWait = 5 * time.Second
)

// TakenWithin is how long work may be in a queue before it counts as waiting for a worker.
const TakenWithin = 5 * time.Second

// QueueTrusted is how long the number of attempts on a queue is cached. A list of timers queries
// it once.
const QueueTrusted = time.Second

// The registry of queues.
const (
	// RegistrationRest is how long a type without a policy stays registered: the policy may be
	// on its way.
	RegistrationRest = time.Hour
	// UnregisteredChecked bounds the types checked in a round for a missing policy.
	UnregisteredChecked = 100
)

// The reconciler.
const (
	// ChecksPerSecond is how many runs a process checks in a second: each check is one call of
	// Temporal.
	ChecksPerSecond = 200
	// UnansweredChecks is how many checks in a row may go unanswered before Temporal, and not a
	// single run, is at fault.
	UnansweredChecks = 20
	// LongestSkip bounds how long a run is skipped.
	LongestSkip = time.Hour
	// SkippedRuns bounds the runs that a process skips, about 10 MB.
	SkippedRuns = 200_000
	// UnreadableLogged bounds the unreadable timers that one round names in the log.
	UnreadableLogged = 10
)

// Bulk jobs (0066).
const (
	// BulkPage is how many timers of a bulk job are listed and stored at once: about 50 KB. Each
	// heartbeat carries their results.
	BulkPage = 250
	// BulkLife bounds how long the pages of a bulk job stay open. The job closes them when it
	// ends.
	BulkLife = 90 * 24 * time.Hour
	// BulkWait is how long a bulk job waits for the effect of one change.
	BulkWait = 10 * time.Second
	// BulkClosers is how many pages are closed concurrently.
	BulkClosers = 16
)

// Checks at the start (0020).
const (
	// StartCheckTimeout bounds all of them, and CleanTimeout the deletion of their workflows.
	StartCheckTimeout = 10 * time.Second
	CleanTimeout      = 5 * time.Second
	// ClockTolerance bounds the difference between the clocks of Temporal and of this process.
	ClockTolerance = time.Second
	// TrialLife ends workflows that are not deleted.
	TrialLife = time.Minute
	// LongestReuse is how long Temporal may delay the continuation of a run, in tune with
	// deploy/dynamicconfig.yaml.
	LongestReuse = 50 * time.Millisecond
	// PollLife bounds a poll that is to be ended, and PollEnds is within what it ends. Without
	// that a server ends it a second before its life is over.
	PollLife = 3 * time.Second
	PollEnds = time.Second
	// BacklogPoll is the interval of queries for a queue's backlog.
	BacklogPoll = 5 * time.Millisecond
)

// Dispatches.
const (
	// DispatchPerCore is how many items a second a processor sends while nothing is known of the
	// workers (0040). Two shared processors sent 7,950.
	DispatchPerCore = 4000
	// CapacitySlack is the factor by which a dispatch may exceed the proved rate.
	CapacitySlack = 1.05
	// CapacityKnown is how long it is remembered that workers fell behind. CapacityListed is the
	// interval at which the last CapacityDispatches dispatches are checked for it.
	CapacityKnown      = 24 * time.Hour
	CapacityListed     = time.Minute
	CapacityDispatches = 20
	// CapacityPatience is how long an order waits for that list.
	CapacityPatience = 200 * time.Millisecond
	// MemoTrusted is how long a dispatch's memo is cached.
	MemoTrusted = 400 * time.Millisecond
	// EffectPoll is the interval of checks for the effect of a change.
	EffectPoll = 50 * time.Millisecond
	// ShardReads is how many shards are read concurrently, and SweepWidth how many pages are
	// cleared away concurrently.
	ShardReads = 16
	SweepWidth = 16
	// UploadsKnown bounds the parts of abandoned uploads that a dispatch clears away itself.
	UploadsKnown = 100
	// ChangeableHistory bounds the history of a dispatch that can be changed. A change costs
	// five events, and three for each shard that gets it. Temporal terminates a workflow of
	// 51,200 events. The rest is for the shards and the end.
	ChangeableHistory = 40_000
	// UploadHeartbeat is the heartbeat interval of an upload, which may be silent for an hour.
	UploadHeartbeat = 10 * time.Minute
)

// The canary. A beat takes at most CanaryDelay + CanaryRing + CanaryRecord + CanaryList, and
// CanaryBook for the deletion. A fault is noticed within that and an interval: 90 s.
const (
	// CanaryInterval is the time between two beats.
	CanaryInterval = time.Minute
	// CanaryDelay is the delay of a beat's timer, long enough to be one of Temporal's timers.
	CanaryDelay = 4 * time.Second
	// CanaryBook bounds a booking and each read, CanaryRing the lateness of a ring, CanaryRecord
	// its record, and CanaryList the time until visibility shows it.
	CanaryBook   = 3 * time.Second
	CanaryRing   = 10 * time.Second
	CanaryRecord = 4 * time.Second
	CanaryList   = 6 * time.Second
	// CanaryPoll is the interval of questions to visibility.
	CanaryPoll = time.Second
	// CanaryHandOver is how long a ring waits for a beat to take it.
	CanaryHandOver = time.Second
	// CanarySilence is the age from which the last beat says that the canary hangs.
	CanarySilence = 3 * time.Minute
	// CanaryLife ends a timer that no beat waits for any more.
	CanaryLife = 2 * time.Minute
)
