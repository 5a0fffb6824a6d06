package operations

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
)

// Before the first look has ended nothing is known to answer, nor to be away.
func TestWhatIsSaidBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	first := (&watch.Watch{}).Last()
	seen := &watch.Picture{At: time.Unix(1, 0)}
	for _, c := range []struct {
		of   *watch.Picture
		away bool
		want string
	}{
		{first, first.EngineAway(), "not looked yet"}, {first, first.ListsAway(), "not looked yet"},
		{seen, false, "answers"}, {seen, true, "does not answer"},
	} {
		require.Equal(t, c.want, words.English.Say("health."+stateOf(c.of, c.away)))
	}
}
