package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/deliveries"
)

// spoken are deliveries of the business type order that note what is said of them.
type spoken struct{ words []delivery.Acknowledgement }

func (*spoken) Open(_, token string) (deliveries.Accepted, error) {
	if token != "good" {
		return deliveries.Accepted{}, deliveries.ErrAckToken
	}
	return deliveries.Accepted{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, Attempt: 1}, nil
}

func (*spoken) Find(_ context.Context, id string, _ func(string) bool) (deliveries.Accepted, error) {
	return deliveries.Accepted{Key: wire.Key{BusinessType: id, BusinessID: "1"}}, nil
}

func (s *spoken) Acknowledge(_ context.Context, _ deliveries.Accepted, word delivery.Acknowledgement, _ time.Duration) (timer.View, bookings.Effect, error) {
	s.words = append(s.words, word)
	return timer.View{}, bookings.Done, nil
}

// Who speaks for a delivery has its token, or a key of its business type, and the token is
// good for no other call.
func TestWhoSpeaksForADelivery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call, path string
		headers    []string
		want       int
	}{
		"a token":                        {"POST", "/v1/deliveries/x/ack", []string{"Wakecall-Ack-Token: good"}, 200},
		"a token beside an unknown key":  {"POST", "/v1/deliveries/x/nack", []string{"Wakecall-Ack-Token: good", "Authorization: Bearer guessed"}, 200},
		"a wrong token":                  {"POST", "/v1/deliveries/x/ack", []string{"Wakecall-Ack-Token: bad"}, 403},
		"a wrong token beside a key":     {"POST", "/v1/deliveries/order/ack", []string{"Wakecall-Ack-Token: bad", "Authorization: Bearer secret"}, 403},
		"two tokens":                     {"POST", "/v1/deliveries/x/ack", []string{"Wakecall-Ack-Token: good", "Wakecall-Ack-Token: good"}, 422},
		"a key":                          {"POST", "/v1/deliveries/order/ack", []string{"Authorization: Bearer secret"}, 200},
		"a key of another business type": {"POST", "/v1/deliveries/invoice/ack", []string{"Authorization: Bearer secret"}, 403},
		"an unknown key":                 {"POST", "/v1/deliveries/order/ack", []string{"Authorization: Bearer guessed"}, 401},
		"nothing":                        {"POST", "/v1/deliveries/order/ack", nil, 401},
		"a token for another call":       {"GET", "/v1/timers?business_type=order", []string{"Wakecall-Ack-Token: good"}, 401},
	} {
		said := &spoken{}
		f := openFront(t, Options{Front: front.Options{Auth: authOf(t, "shop", ":operator:order")}, Deliveries: said})
		text := c.call + " " + c.path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n" + strings.Join(append(c.headers, ""), "\r\n") + "\r\n"
		answers, _ := f.say(c.call, text)
		require.Equal(t, c.want, answers[0].StatusCode, name)
		require.Equal(t, c.want == http.StatusOK, len(said.words) == 1, name)
		f.stop()
		require.NotContains(t, f.logged.String(), "good", "no token in the log")
	}
}
