package timer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page is stored with no more items and bytes than there is room for, whatever JSON makes
// of its items.
func TestAPageHasRoom(t *testing.T) {
	t.Parallel()
	hostile := &Failure{Status: 599, Class: Answered, Message: strings.Repeat("<", MaxFailureMessage), At: 1 << 50}
	for name, c := range map[string]struct {
		payload int
		failure *Failure
		want    int
	}{
		"small items":   {10, nil, 50},
		"large items":   {MaxDispatchItem, nil, 3},
		"hostile words": {10, hostile, 50},
		"both":          {MaxDispatchItem, hostile, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room, page := DispatchRoom{Items: 50, Bytes: 256 << 10, Head: 200}, DispatchPage{}
			item := DispatchItem{Payload: make([]byte, c.payload), Attempts: 99, Failure: c.failure}
			for n := range 100 {
				item.ID = fmt.Sprintf("%0*d", MaxBusinessIDLen, n)
				if !room.Take(item) {
					break
				}
				page.Items = append(page.Items, item)
			}
			require.Len(t, page.Items, c.want)
			require.LessOrEqual(t, len(page.Encode()), 256<<10)
		})
	}
}
