package embedded

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/engine/enginetest"
)

// What stands in for Temporal in the tests of the engine answers as a server does: its own tests
// hold it to what was recorded, and this one holds the record to a server.
func TestTheRecordedAnswersAreThoseOfAServer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	require.Equal(t, enginetest.Recorded(), enginetest.Answers(t, l.Client, "default", l.queue))
}
