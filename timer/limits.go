package timer

import (
	"time"

	"github.com/wakecall/wakecall/timer/calendar"
)

// The limits of the contract, each with its reason.
const (
	// MaxBusinessTypeLen keeps the type usable as a metric label and a queue name.
	MaxBusinessTypeLen = 63
	// MaxBusinessIDLen keeps "type/id" under 255 bytes, the width of Temporal's
	// SQL columns (temporal#2122).
	MaxBusinessIDLen = 128
	// MaxPayload bounds the bytes handed to a receiver. Temporal warns at
	// 256 KiB for a blob; Standard Webhooks advises 20 kB.
	MaxPayload = 64 << 10
	// MaxAhead is how far in the future a timer may be due. Temporal caps a
	// start delay at 100 years in silence, so a bound of ours must come first.
	MaxAhead = 10 * 365 * 24 * time.Hour
	// MaxPast is how long ago a due time may lie. It is below the
	// deduplication window, so that a late repeat of an old booking cannot
	// ring a second time.
	MaxPast = 24 * time.Hour

	// MaxURLLen is the longest callback URL.
	MaxURLLen = 2048
	// MaxLabels, MaxLabelKey and MaxLabelValue bound the labels of a timer, in
	// characters. They are kept in the memo, for which Temporal advises 2 KB.
	MaxLabels     = 8
	MaxLabelKey   = 32
	MaxLabelValue = 64
	// MaxShortString is the longest exchange or routing key of AMQP, in bytes.
	MaxShortString = 255
	// MaxHeaders, MaxHeaderName and MaxHeaderValue bound the extra headers of a callback.
	MaxHeaders     = 20
	MaxHeaderName  = 64
	MaxHeaderValue = 1024
	// MaxNesting is how deep the arrays and objects of one timer or policy may be nested,
	// its payload included: the readers of several languages give up at about a
	// thousand.
	MaxNesting = 1000
	// MaxPEM bounds each text of a policy's TLS: a chain has room, a bundle of all
	// public roots has not.
	MaxPEM = 16 << 10
	// MaxContentTypeLen bounds the payload's content type.
	MaxContentTypeLen = 255

	// DefaultAttemptTimeout is how long one attempt may take.
	DefaultAttemptTimeout = 10 * time.Second
	// MinAttemptTimeout and MaxAttemptTimeout bound it; above 60 s a receiver
	// should answer first and work later.
	MinAttemptTimeout = 10 * time.Millisecond
	MaxAttemptTimeout = 60 * time.Second

	// DefaultFallbackAfter is how long a callback must have failed before its type goes
	// over to the fallback: longer than the restart of a receiver takes.
	DefaultFallbackAfter = 30 * time.Second
	MinFallbackAfter     = time.Second
	MaxFallbackAfter     = 24 * time.Hour

	// MinAckWithin and MaxAckWithin bound how long a receiver has to acknowledge what it
	// accepted: what takes longer than a week is a timer of its own.
	MinAckWithin = time.Second
	MaxAckWithin = 7 * 24 * time.Hour
	// MaxAckReason bounds the reason of a nack, in bytes. It is part of a failure's text.
	MaxAckReason = 400

	// MaxRetryStep is the longest wait between two attempts.
	MaxRetryStep = 30 * 24 * time.Hour
	// MaxAttempts bounds a ladder of either kind, the first attempt included.
	MaxAttempts = 100
	// MaxMultiplier bounds the growth of an exponential ladder.
	MaxMultiplier = 100
	// MaxRetryAfter caps what a receiver may ask for with Retry-After, and is the
	// default of a policy's own cap.
	MaxRetryAfter = time.Hour

	// MaxResponseRead is how much of a receiver's answer is read.
	MaxResponseRead = 4 << 10
	// MaxAnswer is how much of a failed answer is kept, and MaxAnswers of how many
	// attempts: the record travels with each retry.
	MaxAnswer  = 1 << 10
	MaxAnswers = 10
	// MaxFailureMessage bounds a failure's text: Temporal truncates an
	// activity failure near 4 KB.
	MaxFailureMessage = 512

	// MinPriority is the most urgent, MaxPriority the least (Temporal's scale).
	MinPriority     = 1
	MaxPriority     = 5
	DefaultPriority = 3

	// MaxFieldErrors is how many field errors of one request an answer names.
	// MaxPointer and MaxFieldErrorDetail bound each of them, in bytes. An answer must
	// not be larger than the request.
	MaxFieldErrors      = 100
	MaxPointer          = 256
	MaxFieldErrorDetail = 512

	// MaxSigners is how many secrets may sign at once, retired ones included. Each
	// takes 48 bytes of one header, which common servers bound at 4 KB.
	MaxSigners = 20
	// MaxSecrets is how many signing secrets may be valid at once.
	MaxSecrets = 3
	// MinSecretBytes and MaxSecretBytes are those of Standard Webhooks 1.0.0.
	MinSecretBytes = 24
	MaxSecretBytes = 64
	// DefaultSecretOverlap is how long a replaced secret goes on signing: long
	// enough to roll every receiver. MaxSecretOverlap bounds it.
	DefaultSecretOverlap = 24 * time.Hour
	MaxSecretOverlap     = 30 * 24 * time.Hour

	// MinRate and MaxRate bound a rate that is not 0, in events per second. The
	// slowest is one in about 17 minutes; the fastest is what Temporal takes
	// for "no limit".
	MinRate = 0.001
	MaxRate = 100_000
	// DefaultInFlight is how many attempts of one business type may be under way at
	// once in one worker: a receiver that hangs occupies no more, and the attempts of
	// other types do not wait for it.
	DefaultInFlight = 200
	MaxInFlight     = 1000
	MaxPending      = 1_000_000_000

	// DefaultPreload is how long before its due time a timer is handed to a worker,
	// which keeps it in memory: Temporal's work is then done when the timer rings.
	// MaxPreload bounds it, because a workflow task may take two minutes in all.
	DefaultPreload = 2 * time.Second
	MinPreload     = 10 * time.Millisecond
	MaxPreload     = time.Minute

	// MinInterval is the shortest time between two occurrences that a rule may
	// ask for: the finest that a cron expression can say.
	MinInterval = time.Second
	// MaxCrons bounds the expressions of one recurrence, and MaxExcludes its
	// exclusions: ten years of public holidays. The whole rule travels in
	// every run of the timer, and is read anew for every occurrence.
	MaxCrons    = 10
	MaxExcludes = 100
	// MaxOccurrences bounds how often a rule may say that it rings: once a second it takes
	// thirty years to get there.
	MaxOccurrences = 1_000_000_000
	// MaxMoments bounds the times that a recurrence lists.
	MaxMoments = 100
	// MaxCronLen is the longest expression, in bytes.
	MaxCronLen = calendar.MaxExpression
	// MaxMadeUp is how many missed occurrences fire_all makes up for, so that
	// a receiver that was away is not buried.
	MaxMadeUp = 100
	// MissedGrace is how late an occurrence may ring under the rule skip. It
	// covers a worker's restart.
	MissedGrace = time.Minute
	// MaxExtras is how many extra rings of a recurring timer wait behind the one that is under
	// way: each takes a delivery, and more of them are a mistake.
	MaxExtras = 100

	// MaxEarlierKeys is how many idempotency keys of earlier bookings of its id a timer
	// remembers. They tell of those that visibility may not show yet.
	MaxEarlierKeys = 8
	// MaxRefusals is how many refused changes a timer goes on showing. They are
	// kept in the memo, for which Temporal advises 2 KB.
	MaxRefusals = 5
	// MaxRefusalBytes bounds the field errors of one of them. It has room for two of the
	// longest.
	MaxRefusalBytes = 2 << 10
	// MaxNote bounds the note of a pause, in bytes. It is kept in the memo.
	MaxNote = 256
	// MaxEmergencyTypes is how many business types one call pauses or resumes.
	MaxEmergencyTypes = 100
	// MaxUpcoming is how many nominal times may be asked for at once.
	MaxUpcoming     = 1000
	DefaultUpcoming = 20
	// MaxUpcomingSteps bounds the days and moments that one search for them looks at, all
	// expressions of a rule together: a thousand Fridays the 13th take 220,000, and all of
	// them less than a tenth of a second.
	MaxUpcomingSteps = 500_000
	// MaxForecastSteps bounds the steps of a forecast, each of which may be a query, and
	// MaxForecastStep one of them.
	MaxForecastSteps    = 1500
	MaxForecastStep     = 30 * 24 * time.Hour
	DefaultForecastStep = time.Minute
	DefaultForecast     = 24 * time.Hour
	// MinRedeliveryRate and MaxRedeliveryRate bound how many failed timers one
	// redelivery starts in a second. The fastest is what one worker starts one
	// after the other; the slowest lets a stop be noticed within seconds.
	MinRedeliveryRate     = 0.1
	MaxRedeliveryRate     = 1000
	DefaultRedeliveryRate = 10
	// MinBulkRate and MaxBulkRate bound how many timers one bulk job changes in a second.
	// The slowest gets through a million of them in less than a fortnight, for longer than
	// which nobody waits; the fastest is that of a redelivery. The default was chosen to leave
	// an engine on two cores room for bookings and callbacks, and is not measured.
	MinBulkRate     = 1
	MaxBulkRate     = 1000
	DefaultBulkRate = 50
	// MaxBulkID bounds the id that a client gives a bulk job.
	MaxBulkID = 128

	// MinDispatchRate and MaxDispatchRate bound the items that a dispatch sends in a
	// second. The fastest is beyond what one engine on two cores was measured to do.
	MinDispatchRate = 0.001
	MaxDispatchRate = 10_000
	// MaxWarmUp bounds the time over which a dispatch rises to its rate.
	MaxWarmUp = time.Hour
	// MaxDispatchLife is for how long after its due time the items of a dispatch are kept.
	MaxDispatchLife = 365 * 24 * time.Hour
	// MaxInlineItems and MaxInlineBytes bound the items that an order brings along, and
	// the bytes of their payloads. More of them are uploaded.
	MaxInlineItems = 1000
	MaxInlineBytes = 1 << 20
	// MaxDispatchItem bounds the payload of an item, in bytes, as that of a timer.
	MaxDispatchItem = MaxPayload
	// MaxDispatchPage bounds the items of one callback, and of one answer of a loader.
	MaxDispatchPage     = 1000
	DefaultDispatchPage = 100
	// MaxDispatchShards bounds the shards of a loader, each of which is a workflow.
	MaxDispatchShards = 100
	// MaxCursor bounds a loader's cursor, in bytes, and MaxPageAnswer the verdicts on the
	// items of one callback.
	MaxCursor     = 1024
	MaxPageAnswer = 1 << 20
	// MaxLoaderAnswer bounds one answer of a loader, in bytes.
	MaxLoaderAnswer = 8 << 20
)
