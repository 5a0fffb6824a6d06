package client

import (
	"io"
	"iter"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
)

// tells answers with these parts, each after a wait, and then says nothing more, or ends.
func tells(ends bool, wait time.Duration, parts ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, part := range parts {
			<-time.After(wait)
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
		if !ends {
			<-r.Context().Done()
		}
	}
}

const (
	line     = "{\"id\":\"a\"}\n"
	progress = "event: progress\ndata: {\"status\":\"running\"}\n\n"
	end      = "event: end\ndata: {\"status\":\"done\"}\n\n"
	almost   = DefaultTimeout - time.Millisecond
)

// A gateway that stands still ends the reading of a long answer. One that is slow does not, and
// neither does a slow reader.
func TestLongAnswersThatStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := open(t, tells(false, 0, line), tells(false, 0), tells(true, almost, line, line, line))
		read := func(pause time.Duration) (lines int, took time.Duration, err error) {
			began := time.Now()
			for _, err := range c.Dispatches.Failures(t.Context(), key) {
				if err != nil {
					return lines, time.Since(began), err
				}
				<-time.After(pause)
				lines++
			}
			return lines, time.Since(began), nil
		}
		for _, known := range []int{1, 0} {
			lines, took, err := read(0)
			require.True(t, isSilence(err), "%v", err)
			require.True(t, Unavailable(err))
			require.Equal(t, known, lines)
			require.Equal(t, DefaultTimeout, took)
		}
		lines, took, err := read(2 * DefaultTimeout)
		require.NoError(t, err)
		require.Equal(t, 3, lines)
		require.Greater(t, took, 6*DefaultTimeout)
	})
}

// A follower leaves a gateway that stands still.
func TestADispatchIsFollowedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := open(t, tells(false, 0, progress), tells(false, 0), tells(true, almost, ":\n\n", progress, end))
		var seen []dispatch.Status
		for view, err := range c.Dispatches.Follow(t.Context(), key) {
			require.NoError(t, err)
			seen = append(seen, view.Status)
		}
		require.Equal(t, []dispatch.Status{dispatch.Running, dispatch.Running, dispatch.Done}, seen)
		require.Equal(t, 3, g.asked())
	})
	synctest.Test(t, func(t *testing.T) {
		g, c := open(t, tells(false, 0))
		for _, err := range c.Dispatches.Follow(t.Context(), key) {
			require.True(t, isSilence(err), "%v", err)
		}
		require.Equal(t, DefaultTries, g.asked(), "not for ever")
	})
}

// An upload ends if nothing is taken any more. It waits for its own items as long as they take.
func TestAnUploadThatIsNotTaken(t *testing.T) {
	takes := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-time.After(almost)
		_, _ = io.WriteString(w, `{"status":"running"}`)
	}
	slowly := func(n int, pause time.Duration) iter.Seq2[dispatch.Item, error] {
		return func(yield func(dispatch.Item, error) bool) {
			for range n {
				<-time.After(pause)
				if !yield(Item("a", 1), nil) {
					return
				}
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ended := t.Context() // an unread body hides the end of the connection from the server
		takesNothing := func(http.ResponseWriter, *http.Request) { <-ended.Done() }
		_, c := open(t, takes, takesNothing)
		view, err := c.Dispatches.Upload(t.Context(), key, 0, slowly(3, 2*DefaultTimeout))
		require.NoError(t, err)
		require.Equal(t, dispatch.Running, view.Status)
		began := time.Now()
		_, err = c.Dispatches.Upload(t.Context(), key, 0, slowly(1<<20, 0))
		require.True(t, isSilence(err), "%v", err)
		require.Equal(t, DefaultTimeout, time.Since(began))
	})
}
