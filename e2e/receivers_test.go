package e2e

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receivers"
)

// A callback without payload, between others on one connection, is understood by
// servers of every make.
func TestReceiversOfEveryMake(t *testing.T) {
	t.Parallel()
	for _, of := range receivers.Makes() {
		t.Run(string(of), func(t *testing.T) {
			t.Parallel()
			h, _, kind := open(t)
			server := receivers.Start(t, of)
			h.Policy(kind, house.JSON{"callback": house.JSON{"url": server.URL + "/"}, "retry": house.JSON{"steps": []string{}}})
			const timers = 6
			for n := range timers { // one after the other, so that connections are kept
				id := strconv.Itoa(n)
				body := house.JSON{"business_type": kind, "business_id": id, "delay": "0s"}
				if n%2 == 1 {
					body["payload"] = house.JSON{"n": n}
				}
				h.Add(body)
				h.Await(kind+"/"+id, "delivered")
			}
			var requests []receivers.Request
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				requests = server.Requests()
				require.Len(c, requests, timers, "and nothing that was no request")
			}, 10*time.Second, 20*time.Millisecond, "nginx writes its log after the answer")
			for n, got := range requests {
				require.Empty(t, got.Error)
				require.Equal(t, http.MethodPost, got.Method)
				require.Equal(t, strconv.Itoa(n), got.ID)
				require.Equal(t, "1", got.Attempt)
				require.Equal(t, map[bool]string{true: "7", false: "0"}[n%2 == 1], got.Length)
				require.Empty(t, got.Encoding)
			}
		})
	}
}

// Node closes a kept connection just as a request arrives on it: the attempt
// comes again at once, under its number, and the ladder is not touched.
func TestReceiverThatClosesKeptConnections(t *testing.T) {
	t.Parallel()
	h, _, kind := open(t)
	server := receivers.Start(t, receivers.Node)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": server.URL + "/leave"}, "retry": house.JSON{"steps": []string{}}})
	const timers = 4
	for n := range timers {
		id := strconv.Itoa(n)
		h.Add(house.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
		require.Equal(t, 1, h.Await(kind+"/"+id, "delivered").Attempts)
	}
	requests := server.Requests()
	twice := 0
	for n := range timers {
		of := slices.DeleteFunc(slices.Clone(requests), func(r receivers.Request) bool { return r.ID != strconv.Itoa(n) })
		require.LessOrEqual(t, len(of), 2)
		if len(of) == 2 {
			require.Equal(t, of[0].WebhookID, of[1].WebhookID)
			require.Equal(t, []string{"1", "1"}, []string{of[0].Attempt, of[1].Attempt})
			require.Equal(t, []int{2, 1}, []int{of[0].Nth, of[1].Nth})
			twice++
		}
	}
	require.NotZero(t, twice, "connections were kept")
}
