package timer_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// refusals returns refusals of changes with the given ids, each as long as possible. Every third
// one failed its precondition.
func refusals(ids []string) (all []timer.Refusal) {
	var long wire.FieldErrors
	for range wire.MaxFieldErrors {
		long.Add("/"+strings.Repeat("p", wire.MaxPointer-1), wire.CodeInvalidHeader, strings.Repeat("d", wire.MaxFieldErrorDetail))
	}
	for i, id := range ids {
		cause := long.Err()
		if i%3 == 0 {
			cause = timer.Unmet(nil)
		}
		all = append(all, timer.RefusalOf(timer.Change{ID: id, At: wire.At(noon)}, cause))
	}
	return all
}

// Temporal lets ten thousand signals wait. Their refusals stay within the bounds of memo and
// input, and each sender learns the result of its change.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	var ids []string
	for range 10_000 {
		ids = append(ids, uuid.NewString())
	}
	all := refusals(ids)
	memo := timer.Memo{}.Refuse(all)
	text, err := json.Marshal(memo)
	require.NoError(t, err)
	require.Less(t, len(text), 700_000)
	for i, id := range ids {
		refusal, refused := memo.Refusals.Find(id)
		require.True(t, refused)
		require.Equal(t, i%3 == 0, refusal.Unmet())
	}
	shown := memo.Refusals.Latest()
	require.Equal(t, timer.Refusals(all[len(all)-timer.MaxRefusals:]), shown)
	require.NotEmpty(t, shown[0].FieldErrors)

	memo = memo.Refuse(refusals([]string{"a", "b"}))
	require.Len(t, memo.Refusals, timer.MaxRefusals, "those of the run before are told")
	require.Equal(t, all[len(all)-3], memo.Refusals[0])
	require.Equal(t, memo.Refusals, memo.Refusals.Latest())
}

func TestARefusalNamesWhatFits(t *testing.T) {
	t.Parallel()
	var few wire.FieldErrors
	for i := range 10 {
		few.Add("/headers/"+strconv.Itoa(i), wire.CodeInvalidHeader, "must be visible")
	}
	require.Equal(t, few, timer.RefusalOf(timer.Change{}, few.Err()).FieldErrors)
	long := refusals([]string{"unmet", "long"})[1]
	require.Len(t, long.FieldErrors, 2)
}
