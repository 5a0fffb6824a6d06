package types

import (
	"net/http"
	"net/url"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
)

// testResult is the result of a test event.
type testResult struct {
	Link      string    `json:"link"`
	WebhookID string    `json:"webhook_id"`
	Delivered bool      `json:"delivered"`
	Status    int       `json:"status"`
	Class     string    `json:"class"`
	Detail    string    `json:"detail"`
	SentAt    time.Time `json:"sent_at"`
	TookMS    int64     `json:"took_ms"`
	Signed    bool      `json:"signed"`
	Answer    string    `json:"answer"`
	calls.Withheld
	TLS *struct {
		Version string    `json:"version"`
		Subject string    `json:"subject"`
		Until   time.Time `json:"until"`
	} `json:"tls"`
}

// Failure is why the receiver did not take it; nil if it did.
func (r testResult) Failure() *calls.Failure {
	if r.Delivered {
		return nil
	}
	return &calls.Failure{Status: r.Status, Class: r.Class, Message: r.Detail}
}

// testPage says what a receiver answered to a test event.
type testPage struct {
	site.Frame
	BusinessType, Back string
	Result             testResult
}

// Tests reports whether a test event can be sent: some link is called.
func (p *typePage) Tests() bool {
	return p.Row.Callback.Address() != "" || p.Row.Fallback.Address() != ""
}

// testRing sends one test event to the receiver or to its second link.
func (c *Pages) testRing(v *site.Visit) {
	businessType := v.R.PathValue("type")
	page := &testPage{BusinessType: businessType, Back: links.TypePath(businessType)}
	asked := calls.Post(policyPath(businessType)+"/test", nil)
	if link := v.R.PostFormValue("link"); link != "" {
		asked = asked.With(url.Values{"link": {link}})
	}
	if _, problem := c.Call(v, asked, &page.Result); problem != nil {
		c.showPolicyProblem(v, problem)
		return
	}
	page.Frame = c.Frame(v, "test.title")
	c.Render(v, http.StatusOK, "test", page)
}
