package api

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/jobs"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// One answer names every field error, each once, and none that is only there because
// another value could not be read.
func TestFieldErrorsOfABody(t *testing.T) {
	private := delivery.Reach{Address: func(addr netip.Addr) bool { return !addr.IsPrivate() }}
	old := policy.Policy{Alert: &delivery.Alert{Destination: delivery.HTTP("http://10.0.0.9/")}}
	booking := func(o decode.Object) error { _, err := timers.ReadBooking(o, private); return err }
	amendment := func(o decode.Object) error {
		_, err := timers.ReadAmendment(o, wire.Key{BusinessType: "order", BusinessID: "1"}, private)
		return err
	}
	policy := func(o decode.Object) error { _, err := policies.Read(o, "order", private, policy.Policy{}); return err }
	patched := func(o decode.Object) error { _, err := policies.Read(o, "order", private, old); return err }
	order := func(o decode.Object) error { _, err := jobs.ReadBulk(o, private); return err }
	for name, c := range map[string]struct {
		read     func(decode.Object) error
		body     string
		pointers []string
	}{
		"all at once": {booking, `{"business_type":"A","business_id":5,"delay":"1h","priority":9}`,
			[]string{"/business_id", "/business_type", "/priority"}},
		"a value is named once": {booking, `{"business_type":"order","business_id":"1","delay":"soon","priority":"high"}`,
			[]string{"/delay", "/priority"}},
		"nothing below what could not be read":   {policy, `{"callback":{"url":"https://h/"},"retry":"often"}`, []string{"/retry"}},
		"nothing is missed beside it":            {booking, `{"business_type":"order","business_id":"1","retry":{"steps":"1s"},"recurrence":{"cron":1}}`, []string{"/recurrence/cron", "/retry/steps"}},
		"it is beside what was read":             {booking, `{"business_type":"order","business_id":"1","payload_base64":"!","recurrence":{}}`, []string{"/payload_base64", "/recurrence/cron"}},
		"but elsewhere it is":                    {policy, `{"priority":"high","alert":{}}`, []string{"/priority", "/alert/url"}},
		"and beside what was not understood":     {policy, `{"callback":{"uri":"https://h/"},"alert":{"uri":"https://h/"}}`, []string{"/alert/uri", "/callback/uri", "/alert/url"}},
		"an address nobody may call, of a timer": {booking, `{"business_type":"order","business_id":"1","delay":"1h","callback":{"url":"http://10.0.0.1/"},"retry":{"initial":"1s","max_attempts":"x"}}`, []string{"/retry/max_attempts", "/callback/url"}},
		"of a change":                            {amendment, `{"callback":{"url":"http://10.0.0.1/"},"priority":"x"}`, []string{"/priority", "/callback/url"}},
		"of a policy":                            {policy, `{"callback":{"url":"http://10.0.0.1/"},"alert":{"url":"http://10.0.0.2/"},"retry":{"initial":"1s","max_attempts":"x"}}`, []string{"/retry/max_attempts", "/callback/url", "/alert/url"}},
		"but not one that it has already":        {patched, `{"callback":{"url":"https://h/"},"alert":{"url":"http://10.0.0.9/"},"retry":{"initial":"1s","max_attempts":"x"}}`, []string{"/retry/max_attempts"}},
		"a name with a slash":                    {policy, `{"callback":{"url":"https://h/","headers":{"a/b~c":1}}}`, []string{"/callback/headers/a~1b~0c"}},
		"an order":                               {order, `{"operation":"redeliver","filter":{"business_type":1},"per_second":0}`, []string{"/filter/business_type", "/per_second"}},
	} {
		t.Run(name, func(t *testing.T) {
			members, err := decode.Parse([]byte(c.body))
			require.NoError(t, err)
			refused, ok := errors.AsType[*wire.Error](c.read(members))
			require.True(t, ok)
			var pointers []string
			for _, fieldErr := range refused.FieldErrors {
				pointers = append(pointers, fieldErr.Pointer)
			}
			require.Equal(t, c.pointers, pointers)
		})
	}
}
