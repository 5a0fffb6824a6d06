package calls

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/links"
)

// Records are the calls that a gateway knows, the newest first.
type Records struct {
	Gateway       string    `json:"gateway"`
	Since         time.Time `json:"since"`
	TimersSince   time.Time `json:"timers_since"`
	Records       []Record  `json:"records"`
	NextPageToken string    `json:"next_page_token"`
}

// Record is one call that changed something, or was refused.
type Record struct {
	At     time.Time `json:"at"`
	Who    *Actor    `json:"who"`
	From   string    `json:"from"`
	Method string    `json:"method"`
	Route  string    `json:"route"`
	Target struct {
		BusinessType  string   `json:"business_type"`
		BusinessTypes []string `json:"business_types"`
		BusinessID    string   `json:"business_id"`
		ID            string   `json:"id"`
		Everything    bool     `json:"everything"`
	} `json:"target"`
	Changes []FieldChange `json:"changes"`
	LeftOut int           `json:"left_out"`
	Outcome string        `json:"outcome"`
	Problem string        `json:"problem"`
}

// FieldChange is one field that a call changed.
type FieldChange struct {
	Field string         `json:"field"`
	To    jsontext.Value `json:"to"`
}

// Value is what the field was changed to: a text as it reads, and all else as JSON; "" where that is not known.
func (c FieldChange) Value() string {
	var text string
	if json.Unmarshal(c.To, &text) == nil { // null is none
		return text
	}
	return string(c.To)
}

// Instant is that value where the field is an instant; the zero time where it is not.
func (c FieldChange) Instant() time.Time {
	if !strings.HasSuffix(c.Field, "_at") {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, c.Value())
	if err != nil {
		return time.Time{}
	}
	return at
}

// AuditOutcomes are the outcomes of audit records.
var AuditOutcomes = []string{"done", "accepted", "unchanged", outcomeRefused, outcomeUnknown}

const (
	outcomeRefused = "refused"
	outcomeUnknown = "unknown"
)

// Operation is what was called.
func (r Record) Operation() string { return r.Method + " " + r.Route }

// Refused reports whether nothing was done, or that is not known.
func (r Record) Refused() bool { return r.Outcome == outcomeRefused || r.Outcome == outcomeUnknown }

// Named is what the call was about.
func (r Record) Named() string {
	t := r.Target
	if len(t.BusinessTypes) > 0 {
		return strings.Join(t.BusinessTypes, " ")
	}
	parts := []string{}
	for _, part := range []string{t.BusinessType, t.BusinessID, t.ID} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// Link is the page of what the call was about; "" where there is none.
func (r Record) Link() string {
	t := r.Target
	room, _, _ := strings.Cut(strings.TrimPrefix(r.Route, Root), "/")
	switch {
	case t.BusinessType == "":
		return ""
	case t.BusinessID != "" && room == "timers":
		return Key{t.BusinessType, t.BusinessID}.Path()
	case t.BusinessID != "" && room == "dispatches":
		return DispatchPath(links.Root, t.BusinessType, t.BusinessID)
	case t.ID != "" && room == "bulk":
		return links.JobPath(t.ID)
	case t.BusinessID == "" && t.ID == "":
		return links.TypePath(t.BusinessType)
	default:
		return ""
	}
}
