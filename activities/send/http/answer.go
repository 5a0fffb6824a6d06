package httpsend

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/retryafter"
)

// HeaderNoRetry is a receiver's header. Set to "true", it stops the delivery.
const HeaderNoRetry = "Wakecall-No-Retry"

// HeaderStop is a receiver's header. Set to "true", it ends a recurring timer with the
// answered occurrence.
const HeaderStop = "Wakecall-Stop"

// AnswerOf returns the meaning of a status and its headers. Only 2xx delivers; 202 announces
// an acknowledgement if the policy asks for one. A redirect is a refusal, since it is never
// followed.
func AnswerOf(status int, header http.Header, now time.Time) delivery.Answer {
	if status >= 200 && status <= 299 {
		return delivery.Answer{
			Delivered: true, Status: status, Stop: isTrue(header, HeaderStop), Deferred: status == http.StatusAccepted,
		}
	}
	answer := delivery.Answer{
		Class: delivery.Answered, Status: status, Detail: fmt.Sprintf("HTTP %d", status), Stop: isTrue(header, HeaderStop),
	}
	switch {
	case isTrue(header, HeaderNoRetry):
		answer.NoRetry, answer.Detail = true, answer.Detail+", receiver asked for no retry"
	case status == http.StatusGone:
		answer.NoRetry = true
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		answer.RetryAfter = retryafter.Parse(header.Get("Retry-After"), now, delivery.MaxRetryAfter)
	}
	return answer
}

func isTrue(header http.Header, name string) bool {
	return strings.EqualFold(strings.TrimSpace(header.Get(name)), "true")
}
