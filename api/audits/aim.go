package audits

import (
	"io"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// ReadBody reads what a call was aimed at whose body nothing else reads, since its caller may make no
// such call at all. A body that is too long or broken is left.
func (e *Entry) ReadBody(r *http.Request) {
	if e == nil || r.ContentLength > tuning.AuditBody {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, tuning.AuditBody))
	if err == nil {
		_ = json.Unmarshal(raw, &e.body) // what is broken names nothing
	}
}

// aim notes the business types that a refused call names in its body. Without them, the admins of those
// types would not see it. A call that was permitted notes its target itself.
func (e *Entry) aim() {
	if e.Outcome != trail.Refused || len(e.Target.Types()) > 0 || e.Target.Everything {
		return
	}
	t := &e.Target
	valueInto(e.body["everything"], &t.Everything)
	var filter map[string]jsontext.Value
	valueInto(e.body["filter"], &filter)
	for _, named := range []jsontext.Value{e.body["business_type"], filter["business_type"]} {
		valueInto(named, &t.BusinessType)
	}
	if len(wire.CheckBusinessType(t.BusinessType)) > 0 {
		t.BusinessType = ""
	}
	valueInto(e.body["business_types"], &t.BusinessTypes)
	var items []struct {
		BusinessType string `json:"business_type"`
	}
	valueInto(e.body["timers"], &items)
	for _, item := range items {
		t.BusinessTypes = append(t.BusinessTypes, item.BusinessType)
	}
	t.BusinessTypes = severalOf(t.BusinessTypes)
}

// valueInto reads a value of a body. One of another kind is as good as none.
func valueInto[V any](raw jsontext.Value, into *V) {
	var value V
	if len(raw) > 0 && json.Unmarshal(raw, &value) == nil {
		*into = value
	}
}

// severalOf are the types among some names, each once. They are bounded, since any caller may send them.
func severalOf(names []string) (types []string) {
	for _, name := range names {
		if len(types) < tuning.AuditTypes && len(wire.CheckBusinessType(name)) == 0 && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	return types
}
