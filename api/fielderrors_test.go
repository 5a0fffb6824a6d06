package api

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// One answer names every field error, each once, and none that is only there because
// another value could not be read.
func TestFieldErrorsOfABody(t *testing.T) {
	booking := func(o object) error { _, err := o.booking(); return err }
	policy := func(o object) error { _, err := o.policy("order"); return err }
	redelivery := func(o object) error { _, err := o.redelivery(); return err }
	for name, c := range map[string]struct {
		read     func(object) error
		body     string
		pointers []string
	}{
		"all at once": {booking, `{"business_type":"A","business_id":5,"delay":"1h","priority":9}`,
			[]string{"/business_id", "/business_type", "/priority"}},
		"a value is named once": {booking, `{"business_type":"order","business_id":"1","delay":"soon","priority":"high"}`,
			[]string{"/delay", "/priority"}},
		"nothing below what could not be read": {policy, `{"callback":{"url":"https://h/"},"retry":"often"}`, []string{"/retry"}},
		"nothing is missed beside it":          {booking, `{"business_type":"order","business_id":"1","retry":{"steps":"1s"},"recurrence":{"cron":1}}`, []string{"/recurrence/cron", "/retry/steps"}},
		"it is beside what was read":           {booking, `{"business_type":"order","business_id":"1","payload_base64":"!","recurrence":{}}`, []string{"/payload_base64", "/recurrence/cron"}},
		"but elsewhere it is":                  {policy, `{"priority":"high","alert":{}}`, []string{"/priority", "/alert/url"}},
		"and beside what was not understood":   {policy, `{"callback":{"uri":"https://h/"},"alert":{"uri":"https://h/"}}`, []string{"/alert/uri", "/callback/uri", "/alert/url"}},
		"a name with a slash":                  {policy, `{"callback":{"url":"https://h/","headers":{"a/b~c":1}}}`, []string{"/callback/headers/a~1b~0c"}},
		"an order":                             {redelivery, `{"filter":{"business_type":1},"per_second":0}`, []string{"/filter/business_type", "/per_second"}},
	} {
		t.Run(name, func(t *testing.T) {
			members, err := parseObject([]byte(c.body))
			require.NoError(t, err)
			refused, ok := errors.AsType[*timer.Error](c.read(members))
			require.True(t, ok)
			var pointers []string
			for _, fieldErr := range refused.FieldErrors {
				pointers = append(pointers, fieldErr.Pointer)
			}
			require.Equal(t, c.pointers, pointers)
		})
	}
}
