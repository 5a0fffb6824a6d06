package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// HoldRing fails the test if a request to a receiver violates the webhooks of the document:
// a ring of a timer, a callback of a dispatch, a test event, or an alert.
func HoldRing(t testing.TB, header http.Header, body []byte) {
	t.Helper()
	document, err := Wakecall()
	if err == nil {
		err = document.CheckRing(header, body)
	}
	if err != nil {
		t.Errorf("a request to a receiver violates api/openapi.yaml: %v\n%v\n%s", err, header, body)
	}
}

// webhookOf names the webhook of a request. A page of a dispatch names only the dispatch.
func webhookOf(header http.Header, body []byte) string {
	dispatch, id := header.Get("Wakecall-Dispatch"), header.Get("Wakecall-Business-Id")
	switch {
	case dispatch != "" && dispatch == id && strings.HasPrefix(string(body), `{"items":`):
		return "dispatchPage"
	case dispatch != "":
		return "dispatchItem"
	case id != "":
		return "timerDue"
	case strings.Contains(string(body), `"type":"wakecall.test"`):
		return "test"
	default:
		return "alert"
	}
}

// CheckRing returns where a ring or an alert violates the document.
func (d *Document) CheckRing(header http.Header, body []byte) error {
	name := webhookOf(header, body)
	webhook, ok := d.at("#/webhooks/" + name + "/post")
	if !ok {
		return fmt.Errorf("%s is not described", name)
	}
	described := map[string]bool{}
	for _, p := range d.parameters(webhook) {
		if err := d.checkParameter(p, given{header: header}); err != nil {
			return fmt.Errorf("the header %s: %w", p.object["name"], err)
		}
		described[http.CanonicalHeaderKey(fmt.Sprint(p.object["name"]))] = true
	}
	for sent := range header {
		ours := strings.HasPrefix(sent, "Wakecall-") || strings.HasPrefix(sent, "Webhook-") || sent == "Traceparent"
		if ours && !described[sent] {
			return fmt.Errorf("the header %s is not described for %s", sent, name)
		}
	}
	schema, ok := d.under(webhook, "requestBody", "content", "application/json", "schema")
	if !ok {
		return nil // the payload is the client's
	}
	return d.holdBody(schema, body)
}
