package dispatches

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// stored stores so many pages of a part.
func (s *fixture) part(prefix string, pages int) dispatch.Part {
	s.t.Helper()
	part := dispatch.Part{Prefix: prefix, Pages: pages}
	for number := range pages {
		require.NoError(s.t, s.WritePage(s.t.Context(), part.Page(number), dispatch.Page{Items: items(1)}, time.Hour))
	}
	return part
}

func TestAPageIsReplaced(t *testing.T) {
	t.Parallel()
	s := open(t)
	for n := 1; n <= 2; n++ {
		require.NoError(t, s.WritePage(t.Context(), "page", dispatch.Page{Items: items(n)}, time.Hour))
		page, err := s.ReadPage(t.Context(), "page")
		require.NoError(t, err)
		require.Equal(t, items(n), page.Items)
	}
	_, err := s.ReadPage(t.Context(), "nothing")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	s.on.Err = errors.New("down")
	_, err = s.ReadPage(t.Context(), "page")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	require.Equal(t, wire.Unavailable, wire.CodeOf(s.WritePage(t.Context(), "page", dispatch.Page{}, time.Hour)))
}

// What is swept is deleted, and what is closed can still be read. Pages behind the number of a
// part, which an upload has left, go with them.
func TestASweep(t *testing.T) {
	t.Parallel()
	s := open(t)
	many := s.part("many/", 2*tuning.SweepWidth+1)
	unknown, kept := s.part("unknown/", tuning.SweepWidth+1), s.part("kept/", 2)
	unknown.Pages = 0 // it was not known how many there are
	beats := 0
	require.NoError(t, s.CleanUp(t.Context(), dispatch.Cleanup{Delete: []dispatch.Part{many, unknown}, Close: []dispatch.Part{kept}}, func() { beats++ }))
	require.GreaterOrEqual(t, beats, 5)
	for _, gone := range []string{many.Page(0), many.Page(2 * tuning.SweepWidth), unknown.Page(tuning.SweepWidth)} {
		require.Zero(t, s.on.RunsOf(gone), gone)
	}
	for number := range 2 {
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, s.on.Status(kept.Page(number)))
		_, err := s.ReadPage(t.Context(), kept.Page(number))
		require.NoError(t, err)
	}
	require.NoError(t, s.CleanUp(t.Context(), dispatch.Cleanup{Delete: []dispatch.Part{many}, Close: []dispatch.Part{kept}}, func() {}), "it may be swept again")
}

func TestASweepWithoutTemporal(t *testing.T) {
	t.Parallel()
	for name, sweep := range map[string]dispatch.Cleanup{
		"DeleteWorkflowExecution":   {Delete: []dispatch.Part{{Prefix: "part/", Pages: 1}}},
		"TerminateWorkflow":         {Close: []dispatch.Part{{Prefix: "part/", Pages: 1}}},
		"DescribeWorkflowExecution": {Uploads: "part/"},
	} {
		s := open(t)
		s.part("part/", 1)
		s.on.Refuse(name, "", errors.New("down"))
		require.Equal(t, wire.Unavailable, wire.CodeOf(s.CleanUp(t.Context(), sweep, func() {})), name)
	}
}

// A page may be added where there is none, and replaces no other.
func TestAPageIsAdded(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.NoError(t, s.AddPage(t.Context(), "page", dispatch.Page{Items: items(1)}, time.Hour))
	require.Equal(t, wire.AlreadyExists, wire.CodeOf(s.AddPage(t.Context(), "page", dispatch.Page{Items: items(2)}, time.Hour)))
	stored, err := s.ReadPage(t.Context(), "page")
	require.NoError(t, err)
	require.Equal(t, items(1), stored.Items)
	require.NoError(t, s.WritePage(t.Context(), "page", dispatch.Page{Items: items(2)}, time.Hour))
	s.on.Err = errors.New("down")
	require.Equal(t, wire.Unavailable, wire.CodeOf(s.AddPage(t.Context(), "other", dispatch.Page{}, time.Hour)))
}
