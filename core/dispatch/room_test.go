package dispatch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// A stored page exceeds neither its items nor its bytes, however JSON encodes the items.
func TestAPageHasRoom(t *testing.T) {
	t.Parallel()
	hostile := &delivery.Failure{Status: 599, Class: delivery.Answered, Message: strings.Repeat("<", wire.MaxFailureMessage), At: 1 << 50}
	for name, c := range map[string]struct {
		payload int
		failure *delivery.Failure
		want    int
	}{
		"small items":   {10, nil, 50},
		"large items":   {MaxItem, nil, 3},
		"hostile words": {10, hostile, 50},
		"both":          {MaxItem, hostile, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room, page := Room{Items: 50, Bytes: 256 << 10, Head: 200}, Page{}
			item := Item{Payload: make([]byte, c.payload), Attempts: 99, Failure: c.failure}
			for n := range 100 {
				item.ID = fmt.Sprintf("%0*d", wire.MaxBusinessIDLen, n)
				if !room.Reserve(item) {
					break
				}
				page.Items = append(page.Items, item)
			}
			require.Len(t, page.Items, c.want)
			require.LessOrEqual(t, len(page.Encode()), 256<<10)
		})
	}
}
