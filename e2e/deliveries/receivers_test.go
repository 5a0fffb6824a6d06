package deliveries

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receivers"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A callback without payload, between others on one connection, is understood by
// servers of every make.
func TestReceiversOfEveryMake(t *testing.T) {
	t.Parallel()
	for _, of := range receivers.Makes() {
		t.Run(string(of), func(t *testing.T) {
			t.Parallel()
			env, _, kind := testenv.Start(t)
			server := receivers.Start(t, of)
			env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": server.URL + "/"}, "retry": testenv.JSON{"steps": []string{}}})
			const timers = 6
			for n := range timers { // one after the other, so that connections are kept
				id := strconv.Itoa(n)
				body := testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"}
				if n%2 == 1 {
					body["payload"] = testenv.JSON{"n": n}
				}
				env.Add(body)
				env.Await(kind+"/"+id, "delivered")
			}
			var requests []receivers.Request
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				requests = server.Requests()
				require.Len(c, requests, timers, "and nothing that was no request")
			}, testenv.Patience, testenv.Interval, "nginx writes its log after the answer")
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
	env, _, kind := testenv.Start(t)
	server := receivers.Start(t, receivers.Node)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": server.URL + "/leave"}, "retry": testenv.JSON{"steps": []string{}}})
	const timers = 8
	for n := range timers {
		id := strconv.Itoa(n)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
		require.Equal(t, 1, env.Await(kind+"/"+id, "delivered").Attempts)
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

// signedBodies are what a receiver may have to verify.
func signedBodies() map[string]testenv.JSON {
	return map[string]testenv.JSON{
		"json":   {"payload": testenv.JSON{"order": 4711, "name": "Müller"}},
		"text":   {"payload_base64": "R3LDvMOfZQ==", "content_type": "text/plain; charset=utf-8"},
		"binary": {"payload_base64": "AP/+gIE=", "content_type": "application/octet-stream"},
		"none":   {},
	}
}

// Receivers of every make verify what they are sent. The library for Node reads a
// body as text, so that one of other bytes is verified by hand.
func TestReceiversVerify(t *testing.T) {
	t.Parallel()
	for _, of := range receivers.Verifying() {
		t.Run(string(of), func(t *testing.T) {
			t.Parallel()
			env, _, kind := testenv.Start(t)
			key := sample.Secret()
			server := receivers.StartWith(t, of, receivers.Settings{Secret: key})
			env.Policy(kind, testenv.JSON{
				"callback": testenv.JSON{"url": server.URL + "/"}, "retry": testenv.JSON{"steps": []string{}}, "signing_secrets": []string{key},
			})
			for id, body := range signedBodies() {
				body["business_type"], body["business_id"], body["delay"] = kind, id, "0s"
				env.Add(body)
			}
			for id := range signedBodies() {
				env.Await(kind+"/"+id, "delivered")
			}
			onNode := of == receivers.Node || of == receivers.Express
			for _, got := range server.Requests() {
				want := map[bool]string{true: "library", false: "hand"}[onNode && got.ID != "binary"]
				require.Equal(t, want, got.Verified, got.ID)
			}

			env.Policy(kind+".wrong", testenv.JSON{
				"callback": testenv.JSON{"url": server.URL + "/"}, "retry": testenv.JSON{"steps": []string{}}, "signing_secrets": []string{sample.Secret()},
			})
			for id, body := range signedBodies() {
				body["business_type"], body["business_id"], body["delay"] = kind+".wrong", id, "0s"
				env.Add(body)
			}
			for id := range signedBodies() {
				require.Equal(t, http.StatusUnauthorized, env.Await(kind+".wrong/"+id, "failed").LastFailure.Status, id)
			}
		})
	}
}

// Rings that come just as a receiver closes its idle connections need no second
// attempt. Those of a round are due at one instant, so that each has a connection
// of its own, and a round follows the one before by the idle time and some
// milliseconds, more each time: an answer takes as long. WAKECALL_RINGS=1000 rings
// as often, at Node's own five seconds.
func TestRingsAroundTheIdleTime(t *testing.T) {
	t.Parallel()
	const width, sweep = 50, 10
	idle, rounds := 500*time.Millisecond, 4
	if rings, err := strconv.Atoi(os.Getenv("WAKECALL_RINGS")); err == nil {
		idle, rounds = 5*time.Second, rings/width
	}
	env, _, kind := testenv.Start(t)
	server := receivers.StartWith(t, receivers.Node, receivers.Settings{Idle: idle})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": server.URL + "/"}, "retry": testenv.JSON{"steps": []string{"100ms"}}})
	due := time.Now().Add(3 * time.Second)
	var timers []wakecall.Booking
	for round := range rounds {
		for n := range width {
			var timer wakecall.Booking
			timer.DueAt = wire.At(due)
			timer.Key = wire.Key{BusinessType: kind, BusinessID: strconv.Itoa(round*width + n)}
			timers = append(timers, timer)
		}
		due = due.Add(idle + time.Duration(round%sweep)*time.Millisecond)
	}
	for chunk := range slices.Chunk(timers, 1000) {
		env.AddBatch(chunk)
	}
	env.AwaitAll(kind, len(timers), "delivered")
	again := 0
	for _, got := range server.Requests() {
		require.Empty(t, got.Error)
		if got.Attempt != "1" {
			again++
		}
	}
	require.Zero(t, again, "second attempts of %d rings", len(timers))
	t.Logf("%d rings, %d second attempts, %d requests on kept connections", len(timers), again,
		len(slices.DeleteFunc(server.Requests(), func(r receivers.Request) bool { return r.Nth == 1 })))
}
