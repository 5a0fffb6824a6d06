package report

// Measure is the name of a figure, with its unit.
type Measure string

// The measures.
const (
	LatenessP50   Measure = "lateness_p50_ms"
	LatenessP99   Measure = "lateness_p99_ms"
	LatenessMax   Measure = "lateness_max_ms"
	DrainRate     Measure = "drained_per_second"
	AddRate       Measure = "adds_per_second"
	AnswerP50     Measure = "answer_p50_ms"
	AnswerP99     Measure = "answer_p99_ms"
	AnswerMax     Measure = "answer_max_ms"
	CPUPerTimer   Measure = "cpu_ms_per_timer"
	Transitions   Measure = "state_transitions_per_timer"
	Events        Measure = "history_events_per_timer"
	Commits       Measure = "commits_per_timer"
	BytesPerTimer Measure = "bytes_on_disk_per_timer"
	PendingMemory Measure = "memory_booked_mb"
	MemoryAfter   Measure = "memory_after_mb"
	Expected      Measure = "rings_expected"
	Acknowledged  Measure = "acknowledged"
	Early         Measure = "early"
	Duplicates    Measure = "duplicates"
	Lost          Measure = "lost"
	Wrong         Measure = "wrong"
	Failed        Measure = "calls_failed"
	Others        Measure = "others_cpu_percent"
)

// column is a column of a table.
type column struct {
	measure Measure
	title   string
}

// columns are in the order of the tables. A table leaves out columns without a value.
var columns = []column{
	{LatenessP50, "p50 ms"},
	{LatenessP99, "p99 ms"},
	{LatenessMax, "max ms"},
	{DrainRate, "drained/s"},
	{AddRate, "adds/s"},
	{AnswerP50, "answer p50 ms"},
	{AnswerP99, "answer p99 ms"},
	{AnswerMax, "answer max ms"},
	{Acknowledged, "acknowledged"},
	{Early, "early"},
	{Duplicates, "duplicates"},
	{Lost, "lost"},
	{Wrong, "wrong"},
	{Failed, "failed"},
	{CPUPerTimer, "CPU ms/timer"},
	{Transitions, "transitions"},
	{Events, "events"},
	{Commits, "commits/timer"},
	{BytesPerTimer, "bytes/timer"},
	{PendingMemory, "MB booked"},
	{MemoryAfter, "MB after"},
	{Others, "others' CPU %"},
}

// counts must be 0: the median must not hide a fault in one round.
var counts = map[Measure]bool{Early: true, Duplicates: true, Lost: true, Wrong: true, Failed: true}
