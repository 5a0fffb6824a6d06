package tuning

import "time"

// FormBytes bounds a form of the console: a note and two times are less than a KB.
const FormBytes = 64 << 10

// CompressedFrom is the size in bytes from which a page is compressed. A smaller one fits into a packet.
const CompressedFrom = 1400

// Sessions of the console.
const (
	// CookieBytes is how long a sealed value may be. Browsers keep 4096 bytes, with the name.
	CookieBytes = 3800
	// SignInLife is how long a user may take at the identity provider, and FormLife how long a
	// form is kept that was sent when the session was over.
	SignInLife = 10 * time.Minute
	FormLife   = 15 * time.Minute
	// SessionLife is how long a sign-in lasts: a day's work.
	SessionLife = 8 * time.Hour
	// SessionKnown is for how long after that its cookie still tells whose it was.
	SessionKnown = 24 * time.Hour
	// SessionIdle is how long an unused session lives.
	SessionIdle = 30 * time.Minute
	// SessionRenewal is the age at which a session's cookie is sent again. A session may end
	// that much too early after its last use.
	SessionRenewal = time.Minute
)

// What the console knows of the whole installation. One look serves all visitors. All that open pages ask of
// Temporal's visibility stays below two questions a second, whatever their number and their kind: a look asks
// 1.0, and 0.2 more while lists hide types ([LookHidden]), the counts a quarter, the lists of pages a half
// ([LiveList]). The past costs 0.4 until it is counted, and a quarter then ([OutcomesPace], [OutcomesQuestion]). The
// time ahead is counted anyway ([ForecastQuestion]).
const (
	// LookEvery is how old what the pages say of the whole may be. Each look asks two questions, and a third
	// while few timers are being delivered.
	LookEvery = 5 * time.Second
	// LookSeldom is the same for the workers, the policies, and what is overdue or recurring, and for what is being
	// delivered where that is much: a question each.
	LookSeldom = 10 * time.Second
	// LookCounts is the least time between two counts of the timers of all types. They cost eight questions and
	// one for each type, and rest for each of these for a LookQuestion.
	LookCounts   = 20 * time.Second
	LookQuestion = 4 * time.Second
	CountsCost   = 8
	// CountedStrays is of how many business types without a policy the timers are counted. Each costs as much as
	// the count of all types does by itself.
	CountedStrays = 5
	// LookAhead is how long the time ahead rests for each type, whose forecast is read from memory.
	LookAhead = time.Second
	// LookWait bounds how long a page waits for a look, and LookBriefly where what is known is younger than
	// LookRecent: with hundreds of types a look takes longer than a page may. A page with one that is
	// younger than LookOld does not wait, and with an older one says from when it is.
	LookWait    = 400 * time.Millisecond
	LookBriefly = 15 * time.Millisecond
	LookRecent  = 10 * time.Minute
	LookOld     = 15 * time.Second
	// LookEngine bounds how long a look waits for Temporal to tell that there is no such timer.
	LookEngine = 2 * time.Second
	// LookTimeout bounds a look.
	LookTimeout = 8 * time.Second
	// LookStep is the step of the forecast in which an overflow is looked for.
	LookStep = 5 * time.Minute
	// OverdueAfter is by how much a timer is late before a page says so: workers look for such
	// timers once a minute.
	OverdueAfter = time.Minute
	// FailedWithin is how long ago a timer may have failed that the top of each page counts.
	FailedWithin = 10 * time.Minute
	// LongestEstimate bounds what a page reckons that a number of timers takes at a rate, as the API bounds its
	// own: ten million at the slowest rate exceed a [time.Duration].
	LongestEstimate = 100 * 365 * 24 * time.Hour
	// FailingShare is the share of the attempts of a minute from which on a type counts as failing whose timers
	// are delivered all the same.
	FailingShare = 0.1
	// SampledTimers is how many timers of a kind are counted one by one, and SampledTypes of how
	// many business types one is read in full. Each costs a call to Temporal.
	SampledTimers = 100
	SampledTypes  = 6
	// LookHidden is how many types are asked for by themselves in a LookSeldom, while lists are full of others.
	LookHidden = 2
	// LookPastEvery is how old what the table of types says of the last day may be: sixteen ledgers are
	// asked for it.
	LookPastEvery = 30 * time.Second
	// PlotsCountedWithin is how old the counts of plots may be before they say so. Counts follow each other by
	// some 10 s.
	PlotsCountedWithin = 30 * time.Second
	// LookTypes is of how many business types the time ahead is looked at.
	LookTypes = 20
	// TypesGravest is how many business types the overview shows, and TypesShown how many a page of the table of
	// all. A page of 300 took 40 ms to draw, and 450 KB.
	TypesGravest = 50
	TypesShown   = 100
)

// What a page waits for. A page is answered within a second, also while Temporal does not answer.
const (
	// PageWait bounds the wait for all calls of a page together, and PartWait that for those of an open page,
	// whose user sees the last answers meanwhile.
	PageWait = 700 * time.Millisecond
	PartWait = 3 * time.Second
	// PageLeast is how long a call is waited for where they have taken that long.
	PageLeast = 50 * time.Millisecond
	// BriefWait and BriefLeast are the same for the figures of plots, which the stream of a page brings.
	BriefWait  = 20 * time.Millisecond
	BriefLeast = 500 * time.Microsecond
	// KeptBytes bounds the answers that the pages keep for when there is none, and KeptOverhead is about what
	// each takes beside its text.
	KeptBytes    = 8 << 20
	KeptOverhead = 1 << 10
	// KeptDrawings is of how many loaded pages the plots are kept as they were drawn, 60 KB each.
	KeptDrawings = 50
)

// How fast a dispatch is, as its open page samples it once a second.
const (
	// SpeedSamples is how many samples are kept of a dispatch, and SpeedDispatches of how many.
	SpeedSamples    = 600
	SpeedDispatches = 100
)

// SelectedAtOnce is how many of the timers that were selected in a list are changed at once: each
// may wait for its effect.
const SelectedAtOnce = 8

// What an open page of the console is told of itself.
const (
	// LiveStrip, LiveTable, LiveTimer, LivePlots and LiveHeat are how often each is rendered while it is
	// watched: once for all who watch the same.
	LiveStrip = 2 * time.Second
	LiveTable = 2 * time.Second
	LiveTimer = time.Second
	LivePlots = 10 * time.Second
	LiveHeat  = time.Minute
	// LiveList is the rest for each question that pages ask Temporal's visibility, whichever they are.
	LiveList = 2 * time.Second
	// LiveDebt bounds that rest where one page asks very many at once: the others wait for it.
	LiveDebt = time.Minute
	// LiveQuestions is how many lists one page may read each time. A page that needs more is not
	// kept up to date.
	LiveQuestions = 2
	// LiveRender bounds one rendering.
	LiveRender = 8 * time.Second
	// LiveBeat is how often a stream says that it is there, and looks whether its session is.
	LiveBeat = 5 * time.Second
	// LiveRetry is how long a browser waits before it comes back.
	LiveRetry = 500 * time.Millisecond
	// LiveStreams is how many streams a process keeps open.
	LiveStreams = 1000
)
