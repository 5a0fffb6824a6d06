package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// A webhook id stands for one body, also where a change of the body brings another due time.
func TestAnotherBodyAfterAnAttempt(t *testing.T) {
	t.Parallel()
	soon, other := wire.Duration(time.Minute), &timer.Payload{Data: []byte("2"), ContentType: timer.ContentTypeJSON}
	for name, c := range map[string]struct {
		change timer.Change
		early  bool // before any attempt
		stays  bool
	}{
		"another body":                     {change: timer.Change{Terms: timer.Terms{Payload: other}}},
		"another body and time":            {change: timer.Change{Terms: timer.Terms{Payload: other, Delay: &soon}}},
		"replaced":                         {change: timer.Change{Terms: timer.Terms{Payload: other, Delay: &soon}, Replace: true}},
		"another time":                     {change: timer.Change{Terms: timer.Terms{Delay: &soon}}, stays: true},
		"replaced by another time":         {change: timer.Change{Terms: timer.Terms{Delay: &soon}, Replace: true}, stays: true},
		"another body before any attempt":  {change: timer.Change{Terms: timer.Terms{Payload: other, Delay: &soon}}, early: true, stays: true},
		"another content type, same bytes": {change: timer.Change{Terms: timer.Terms{Payload: &timer.Payload{ContentType: "text/plain", Base64: true}, Delay: &soon}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := book(t, inAnHour(false))
			id := l.spec.WebhookID()
			if c.early {
				l.changedAt(time.Minute, c.change)
			} else {
				onceOnItsLadder(c.change)(l)
			}
			l.play(1)
			require.Equal(t, 2, l.spec.Revision)
			require.Equal(t, c.stays, id == l.spec.WebhookID())
		})
	}
}
