package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// HoldRing fails the test if what Wakecall sent to a receiver departs from the
// webhooks of the document: a ring of a timer, or an alert.
func HoldRing(t testing.TB, header http.Header, body []byte) {
	t.Helper()
	document, err := Wakecall()
	if assert.NoError(t, err) {
		assert.NoError(t, document.CheckRing(header, body), "what was sent departs from api/openapi.yaml: %v\n%s", header, body)
	}
}

// CheckRing says where a ring or an alert departs from the document.
func (d *Document) CheckRing(header http.Header, body []byte) error {
	name := "alert"
	if header.Get("Wakecall-Business-Id") != "" {
		name = "timerDue"
	}
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
