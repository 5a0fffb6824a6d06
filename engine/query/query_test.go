package query

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/wire"
)

const (
	running   = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	completed = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	failed    = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	timedOut  = enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT
	canceled  = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	continued = enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
)

func TestConditions(t *testing.T) {
	t.Parallel()
	at := wire.At(time.Date(2026, 11, 23, 9, 30, 0, 250_000_000, time.UTC))
	year10000 := wire.At(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC))
	state := Keyword("WakecallState")
	for want, q := range map[string]Query{
		"":                                                      {},
		"WorkflowId = 'order/4711'":                             WorkflowID.Is("order/4711"),
		`WorkflowId IN ('a/1', 'a/it\'s')`:                      WorkflowID.In([]string{"a/1", "a/it's"}),
		"WakecallState != 'expired'":                            state.Not("expired"),
		"WakecallState IS NULL":                                 state.Missing(),
		"ExecutionStatus = 'Running'":                           Status(running),
		"ExecutionStatus != 'ContinuedAsNew'":                   NotStatus(continued),
		"ExecutionStatus IN ('Failed', 'TimedOut')":             Status(failed, timedOut),
		"CloseTime >= '2026-11-23T09:30:00.250Z'":               CloseTime.From(at),
		"CloseTime <= '2026-11-23T09:30:00.250Z'":               CloseTime.To(at),
		"ExecutionTime < '2026-11-23T09:30:00.250Z'":            ExecutionTime.Before(at),
		"CloseTime <= '9999-12-31T23:59:59.999Z'":               CloseTime.To(year10000),
		"ExecutionTime < '9999-12-31T23:59:59.999Z'":            ExecutionTime.Before(year10000),
		"ExecutionStatus IN ('Canceled', 'Failed', 'TimedOut')": Status(canceled, failed, timedOut),
		"WorkflowType = 'T' AND ExecutionStatus = 'Running'":    All(WorkflowType.Is("T"), Query{}, Status(running)),
		"ExecutionStatus = 'Completed' AND (WakecallState IS NULL OR WakecallState != 'expired')": All(Status(completed), Either(state.Missing(), state.Not("expired"))),
		`WorkflowId = 'it\'s \\ \' OR \'1\' = \'1'`:                                               WorkflowID.Is(`it's \ ' OR '1' = '1`),
	} {
		require.Equal(t, want, q.String())
	}
}

// read is what a parser of SQL reads as the text at the beginning, and the rest.
func read(quoted string) (value, rest string, ok bool) {
	var b strings.Builder
	if !strings.HasPrefix(quoted, "'") {
		return "", quoted, false
	}
	for i := 1; i < len(quoted); i++ {
		switch quoted[i] {
		case '\\':
			if i++; i == len(quoted) {
				return "", "", false
			}
			b.WriteByte(quoted[i])
		case '\'':
			return b.String(), quoted[i+1:], true
		default:
			b.WriteByte(quoted[i])
		}
	}
	return "", "", false
}

func FuzzAValueStaysAValue(f *testing.F) {
	for _, value := range []string{"", "order", "it's", `\`, `\'`, `'' OR 1=1 --`, "a\x00b", "\xff'", `"`} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text := All(WorkflowID.Is(value), Status(running)).String()
		quoted, ok := strings.CutPrefix(text, "WorkflowId = ")
		require.True(t, ok)
		got, rest, ok := read(quoted)
		require.True(t, ok, text)
		require.Equal(t, value, got)
		require.Equal(t, " AND ExecutionStatus = 'Running'", rest)
	})
}

// The oracle sees a value that breaks out.
func TestReadSeesWhatBreaksOut(t *testing.T) {
	t.Parallel()
	value, rest, ok := read("'" + "x' OR 'a' = 'a" + "'")
	require.True(t, ok)
	require.Equal(t, "x", value)
	require.NotEmpty(t, rest)
	_, _, ok = read(`'x\'`)
	require.False(t, ok, "a text without an end")
}
