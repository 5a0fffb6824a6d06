// Package sample makes the bookings of the tests.
package sample

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wakecall/wakecall/e2e/contract"
)

// kinds counts the business types: a test that runs again on the shared server must not meet
// the timers of its last run.
var kinds atomic.Int64

// Type makes a business type from the test's name, a new one at each call.
func Type(t testing.TB) string {
	name := strings.ToLower(strings.NewReplacer("/", ".", "_", "-").Replace(t.Name()))
	return name[max(0, len(name)-50):] + "-" + strconv.FormatInt(kinds.Add(1), 10)
}

// Booking is a one-shot timer with a small payload.
func Booking(businessType, id, delay, url string) contract.JSON {
	return contract.JSON{
		"business_type": businessType, "business_id": id, "delay": delay, "payload": contract.JSON{"n": 1},
		"callback": contract.JSON{"url": url},
	}
}

// Secret is a signing secret.
func Secret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// Repeating is a recurring timer under its policy's defaults.
func Repeating(businessType, id string, rule contract.JSON) contract.JSON {
	return contract.JSON{"business_type": businessType, "business_id": id, "recurrence": rule}
}
